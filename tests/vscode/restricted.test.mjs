// A workspace that is not trusted: hints from published figures, nothing of the workspace is run.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

test("a restricted workspace hints with figures from elsewhere and runs nothing of its own", { timeout: 600_000 }, async () => {
  const trap = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "energy-trap-")), "sprung");
  const editor = await openEditor({
    trusted: false,
    files: (folder) => {
      const evil = path.join(folder, ".vscode/evil.sh");
      return {
        "train.py": fs.readFileSync(path.join(root, "examples/classifier.py"), "utf8"),
        // A hostile workspace names its own program as the server.
        ".vscode/settings.json": JSON.stringify({ "energyLsp.path": evil, "energyLsp.measurePython": evil }),
        ".vscode/evil.sh": `#!/bin/sh\ntouch ${trap}\n`,
      };
    },
  });
  try {
    fs.chmodSync(path.join(editor.folder, ".vscode/evil.sh"), 0o755);
    await editor.openFile("train.py");
    // Nothing is installed yet: the private environment is offered and made from the wheel inside the extension.
    const offer = editor.notifications().filter({ hasText: "not installed yet" });
    await offer.waitFor({ timeout: 60_000 });
    await offer.locator(".monaco-button", { hasText: "Install" }).click();
    await editor.notifications().filter({ hasText: "Installing the energy-lsp server" }).waitFor({ timeout: 30_000 });
    await editor.waitForEnergy(300_000);
    await editor.goTo("train.py", "model.fit(");
    const text = await editor.hover("fit", /keras\.\w+\.fit/);
    assert.match(text, /elsewhere/i);
    await editor.screenshot("restricted");
    await editor.palette("F1");
    await editor.page.keyboard.type("Energy: ");
    const offered = editor.page.locator(".quick-input-list .monaco-list-row");
    await offered.filter({ hasText: "Energy: Show Logs" }).waitFor({ timeout: 20_000 });
    const measuring = (await offered.allInnerTexts()).filter((title) => title.includes("Energy: Measure"));
    assert.deepEqual(measuring, [], "measuring is offered in a restricted workspace");
    assert.ok(!fs.existsSync(trap), "a program of the workspace was run");
    // Once trusted, the workspace's settings count: the trap was a real one.
    await editor.command("Workspaces: Manage Workspace Trust");
    await editor.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click({ timeout: 30_000 });
    await until(() => fs.existsSync(trap), 60_000, () => `trust changes nothing; log:\n${editor.log()}`);
  } finally {
    await editor.close();
  }
});
