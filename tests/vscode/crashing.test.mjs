// A server that dies: started again by itself, until it has died too often; then one message, in one window.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

let editor;
before(async () => {
  editor = await openEditor({
    files: { "classifier.py": fs.readFileSync(path.join(root, "examples/classifier.py"), "utf8") },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp") },
  });
  await editor.openFile("classifier.py");
}, { timeout: 180_000 });
after(() => editor?.close());

/** Kills the running server; resolves with its process id. */
async function kill() {
  await editor.waitForEnergy();
  const [pid] = editor.servers()[0].split(" ");
  process.kill(Number(pid), "SIGKILL");
  return pid;
}

async function killUntilItStays() {
  for (let round = 1; round <= 4; round += 1) {
    const pid = await kill();
    await until(() => editor.servers().every((line) => !line.startsWith(`${pid} `)), 30_000, () => "the server does not die");
    if (round < 4) await until(() => editor.servers().length === 1, 60_000, () => `no new server after ${round} ends; log:\n${editor.log()}`);
  }
  await editor.status().locator(".codicon-warning").waitFor({ timeout: 60_000 });
}

describe("a server that is killed", { timeout: 900_000, concurrency: 1 }, () => {
  test("comes back by itself", async () => {
    const pid = await kill();
    await until(() => editor.servers().some((line) => !line.startsWith(`${pid} `)), 60_000, () => "no new server");
    await editor.goTo("classifier.py", "model.fit(");
    await editor.hover("fit", /keras\.\w+\.fit/);
    assert.equal(await editor.notifications().filter({ hasText: "energy-lsp" }).count(), 0);
    await editor.command("Energy: Restart Server"); // the user's own restart wipes the record
    await until(() => editor.servers().length === 1, 60_000, () => "no server after the restart");
  });

  test("again and again is left alone, with one message whose button brings it back", async () => {
    await killUntilItStays();
    const message = editor.notifications().filter({ hasText: "ended 4 times in a row" });
    await message.waitFor({ timeout: 30_000 });
    assert.equal(await message.count(), 1);
    await message.locator(".monaco-button", { hasText: "Show Logs" }).waitFor();
    await editor.screenshot("crashed");
    await message.locator(".monaco-button", { hasText: "Restart" }).click();
    await editor.waitForEnergy();
  });

  test("is not told of again in every window", async () => {
    await killUntilItStays(); // told: the user had restarted it
    await editor.notifications().filter({ hasText: "ended 4 times in a row" }).waitFor({ timeout: 30_000 });
    await editor.reload();
    await editor.openFile("classifier.py");
    await killUntilItStays();
    assert.match(editor.log().slice(-2000), /ended 4 times in a row/);
    assert.equal(await editor.notifications().filter({ hasText: "ended 4 times in a row" }).count(), 0);
    // The status item's menu has the remedy first.
    await editor.status().click();
    await editor.page.locator(".quick-input-list .monaco-list-row").first().filter({ hasText: "Restart server" }).waitFor({ timeout: 20_000 });
    await editor.page.keyboard.press("Enter");
    await editor.waitForEnergy();
  });
});
