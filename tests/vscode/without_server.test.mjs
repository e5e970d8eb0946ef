// What people see when the server is not there yet: no Python, too old a Python, a first install.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openEditor, until } from "./editor.mjs";

const files = { "train.py": "import tensorflow as tf\nx = tf.constant(1.0)\n" };
const node = path.dirname(process.execPath);

/** An environment whose PATH has no Python: only what code-server itself needs, and the given scripts. */
function environmentWithout(...extra) {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), "energy-bin-"));
  for (const tool of ["sh", "bash", "env", "uname", "cat", "sed", "grep", "dirname", "readlink", "which", "ps"]) {
    for (const place of ["/bin", "/usr/bin"]) {
      if (fs.existsSync(path.join(place, tool)) && !fs.existsSync(path.join(bin, tool))) fs.symlinkSync(path.join(place, tool), path.join(bin, tool));
    }
  }
  fs.symlinkSync(path.join(node, "node"), path.join(bin, "node"));
  for (const [name, script] of extra) fs.writeFileSync(path.join(bin, name), script, { mode: 0o755 });
  // VSCODE_CLI: the editor is not to take a PATH from the login shell.
  return { PATH: bin, VSCODE_CLI: "1" };
}

test("no Python: one message that says what to do, with a button", { timeout: 180_000 }, async () => {
  const editor = await openEditor({ files, env: environmentWithout() });
  try {
    await editor.openFile("train.py");
    const toast = editor.notifications().filter({ hasText: "needs Python 3.10 or newer and found none" });
    await toast.waitFor({ timeout: 60_000 });
    assert.equal(await editor.notifications().filter({ hasText: "energy-lsp" }).count(), 1);
    await toast.locator(".monaco-button", { hasText: "Try Again" }).waitFor();
    await editor.screenshot("no-python");
    // A new window does not say it again.
    await editor.page.reload();
    await editor.page.waitForSelector(".monaco-workbench");
    await editor.openFile("train.py");
    await until(async () => (await editor.status().innerText()).includes("Energy"), 60_000, () => "no status item");
    await editor.page.waitForTimeout(3000);
    assert.equal(await editor.notifications().filter({ hasText: "needs Python" }).count(), 0);
  } finally {
    await editor.close();
  }
});

test("too old a Python is named with its version", { timeout: 180_000 }, async () => {
  const old = ["python3", "#!/bin/sh\necho 3.8.18\n"];
  const editor = await openEditor({ files, env: environmentWithout(old) });
  try {
    await editor.openFile("train.py");
    await editor.notifications().filter({ hasText: "python3 is Python 3.8.18" }).waitFor({ timeout: 60_000 });
  } finally {
    await editor.close();
  }
});
