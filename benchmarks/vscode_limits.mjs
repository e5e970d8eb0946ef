// Limits of the VS Code extension: size of the .vsix, time to activate, memory and processes after 50 restarts of the server.
// Usage: node benchmarks/vscode_limits.mjs [RESTARTS]   (after `make test-editor`, which sets up the editor and builds the .vsix)
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openEditor, root, until } from "../tests/vscode/editor.mjs";

const restarts = Number(process.argv[2] ?? 50);
const vsix = fs.statSync(path.join(root, "client-vscode/energy-lsp.vsix")).size;
console.log(`.vsix: ${(vsix / 1e6).toFixed(2)} MB (limit 5)`);

const editor = await openEditor({
  files: { "classifier.py": fs.readFileSync(path.join(root, "examples/classifier.py"), "utf8") },
  settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp") },
});
try {
  await editor.openFile("classifier.py");
  const known = async () => /J|Wh/.test(await editor.status().innerText());
  await until(known, 60_000, () => "the server does not start");
  await editor.command("Developer: Show Running Extensions");
  const row = editor.page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "energy-lsp" });
  await row.waitFor();
  console.log(`activation: ${(await row.locator(".activation-time").innerText()).trim()} (limit 100 ms)`);
  await editor.openFile("classifier.py");
  const before = extensionHost(editor.home);
  for (let round = 1; round <= restarts; round += 1) {
    const old = servers(editor.home);
    await editor.command("Energy: Restart Server");
    await until(() => servers(editor.home).length === 1 && servers(editor.home)[0] !== old[0], 60_000, () => `restart ${round} hangs`);
    await until(known, 60_000, () => `no figures after restart ${round}`);
    if (round === 5 || round % 10 === 0) console.log(`after ${round} restarts: extension host ${extensionHost(editor.home)} MB, servers ${servers(editor.home).length}`);
  }
  console.log(`extension host before: ${before} MB, after ${restarts} restarts: ${extensionHost(editor.home)} MB; servers: ${servers(editor.home).length}`);
} finally {
  await editor.close();
}

function processes(home, pattern) {
  const lines = execFileSync("ps", ["-eo", "pid,rss,args"], { encoding: "utf8" }).split("\n").map((line) => line.trim());
  return lines.filter((line) => pattern.test(line) && environment(line.split(/\s+/)[0]).includes(home)).map((line) => line.split(/\s+/));
}

function servers(home) {
  return processes(home, /energy-lsp serve/).map(([pid]) => pid);
}

/** Resident memory of the extension host in MB. */
function extensionHost(home) {
  return Math.round(Math.max(...processes(home, /type=extensionHost/).map(([, rss]) => Number(rss) / 1000)));
}

function environment(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
