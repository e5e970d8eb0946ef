// Limits of the VS Code extension: size of the .vsix, time to activate, memory and processes after 50 restarts of the server.
// Usage: node benchmarks/speed/vscode_limits.mjs [RESTARTS]   (after `make test-editor`, which sets up the editor and builds the .vsix)
import fs from "node:fs";
import path from "node:path";
import { openEditor, root, until } from "../../tests/vscode/editor.mjs";

const freshEditors = 5;
const restarts = Number(process.argv[2] ?? 50);
const vsix = fs.statSync(path.join(root, "client-vscode/energy-lsp.vsix")).size;
console.log(`.vsix: ${(vsix / 1e6).toFixed(2)} MB (limit 5)`);

const activations = [];
for (let round = 1; round <= freshEditors; round += 1) {
  const fresh = await openWorking();
  try {
    activations.push(await activation(fresh));
  } finally {
    await fresh.close();
  }
}
const middle = activations.toSorted((left, right) => left - right)[Math.floor(freshEditors / 2)];
console.log(`activation in ${freshEditors} fresh editors: ${activations.join(", ")} ms, in the middle ${middle} ms (limit 100 ms)`);

const editor = await openWorking();
try {
  const before = extensionHost();
  for (let round = 1; round <= restarts; round += 1) {
    const old = editor.servers();
    await editor.command("Energy: Restart Server");
    await until(() => editor.servers().length === 1 && editor.servers()[0] !== old[0], 60_000, () => `restart ${round} hangs`);
    await editor.waitForEnergy();
    if (round === 5 || round % 10 === 0) console.log(`after ${round} restarts: extension host ${extensionHost()} MB, servers ${editor.servers().length}`);
  }
  console.log(`extension host before: ${before} MB, after ${restarts} restarts: ${extensionHost()} MB; servers: ${editor.servers().length}`);
} finally {
  await editor.close();
}

/** An editor whose server has told its figures. */
async function openWorking() {
  const opened = await openEditor({
    files: { "classifier.py": fs.readFileSync(path.join(root, "examples/classifier.py"), "utf8") },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp") },
  });
  await opened.openFile("classifier.py");
  await opened.waitForEnergy();
  return opened;
}

/** Milliseconds of the extension host, as the editor itself tells them. */
async function activation(opened) {
  await opened.command("Developer: Show Running Extensions");
  const row = opened.page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "energy-lsp" });
  await row.waitFor();
  return Number(/(\d+) ?ms/.exec(await row.locator(".activation-time").innerText())[1]);
}

/** Resident memory of the extension host in MB. */
function extensionHost() {
  const sizes = editor.processes(/type=extensionHost/).map((line) => /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${line.split(" ")[0]}/status`, "utf8"))[1]);
  return Math.round(Math.max(...sizes.map(Number)) / 1000);
}
