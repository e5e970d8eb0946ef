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

const running = () => editor.servers().map((line) => line.split(" ")[0]);

/** Waits for one server, other than this one, that has told its figures and still runs; resolves with its process id. */
async function serverOtherThan(old) {
  for (;;) {
    let pid;
    await until(() => {
      const all = running();
      pid = all[0];
      return all.length === 1 && pid !== old;
    }, 60_000, () => `no new server; log:\n${editor.log()}`);
    await editor.waitForEnergy();
    // A window that has just been loaded may exchange its server once.
    if (running()[0] === pid) return pid;
  }
}

/** Kills the server once it is at work; resolves with its process id. */
async function killOtherThan(old) {
  const pid = await serverOtherThan(old);
  process.kill(Number(pid), "SIGKILL");
  return pid;
}

async function killUntilItStays() {
  let pid;
  for (let round = 1; round <= 4; round += 1) pid = await killOtherThan(pid);
  await until(() => running().length === 0, 30_000, () => "the server does not die");
  await editor.status().locator(".codicon-warning").waitFor({ timeout: 60_000 });
}

describe("a server that is killed", { timeout: 900_000, concurrency: 1 }, () => {
  test("comes back by itself", async () => {
    const pid = await serverOtherThan(await killOtherThan());
    await editor.goTo("classifier.py", "model.fit(");
    await editor.hover("fit", /keras\.\w+\.fit/);
    assert.equal(await editor.notifications().filter({ hasText: "energy-lsp" }).count(), 0);
    await editor.command("Energy: Restart Server"); // the user's own restart wipes the record
    await serverOtherThan(pid);
  });

  test("again and again is left alone, with one message whose button brings it back", async () => {
    await killUntilItStays();
    const message = editor.notifications().filter({ hasText: "ended 4 times in a row" });
    await message.waitFor({ timeout: 30_000 });
    assert.equal(await message.count(), 1);
    await message.locator(".monaco-button", { hasText: "Show Logs" }).waitFor();
    // What the dead server said is not left standing.
    await until(async () => (await editor.heatMarks().count()) === 0, 30_000, () => "the heat stays");
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
