// First steps: what wakes the extension up, and a first measurement with an interpreter that cannot do it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openEditor, root } from "./editor.mjs";

test("a notebook activates the extension, a text file does not", { timeout: 300_000 }, async () => {
  const editor = await openEditor({
    files: { "notes.txt": "tf.constant(1)\n", "clusters.ipynb": fs.readFileSync(path.join(root, "examples/clusters.ipynb"), "utf8") },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp") },
  });
  try {
    await editor.openFile("notes.txt");
    // The palette is answered by the extension host: by now it would have activated the extension.
    await editor.command("Developer: Show Running Extensions");
    await editor.page.locator(".runtime-extensions-editor .monaco-list-row").first().waitFor({ timeout: 30_000 });
    assert.equal(await editor.page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "energy-lsp" }).count(), 0);
    assert.deepEqual(editor.servers(), []);
    await editor.openFile("clusters.ipynb");
    await editor.hover("constant", /tensorflow\.constant/);
    assert.equal(editor.servers().length, 1);
  } finally {
    await editor.close();
  }
});

test("an interpreter without TensorFlow is told, with a button that leads to the setting", { timeout: 300_000 }, async () => {
  const bare = fs.mkdtempSync(path.join(os.tmpdir(), "energy-bare-"));
  execFileSync(path.join(root, ".venv/bin/python"), ["-m", "venv", "--without-pip", bare]);
  const editor = await openEditor({
    files: { "train.py": "import tensorflow as tf\nx = tf.constant(1.0)\n" },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"), "energyLsp.measurePython": path.join(bare, "bin/python") },
  });
  try {
    await editor.openFile("train.py");
    // The button above the file is there once the server has found something to measure.
    await editor.page.locator('.editor-actions [aria-label*="Measure This File"]').click({ timeout: 90_000 });
    const told = editor.notifications().filter({ hasText: "name an interpreter that has it with energyLsp.measurePython" });
    await told.locator(".monaco-button", { hasText: "Open Settings" }).click({ timeout: 90_000 });
    await editor.page.locator('.settings-editor [data-key="energyLsp.measurePython"]').waitFor({ timeout: 30_000 });
  } finally {
    await editor.close();
  }
});
