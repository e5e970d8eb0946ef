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

test("where the interpreter has no TensorFlow, those that have it are offered, and a new environment", { timeout: 300_000 }, async () => {
  const bare = fs.mkdtempSync(path.join(os.tmpdir(), "energy-bare-"));
  execFileSync(path.join(root, ".venv/bin/python"), ["-m", "venv", "--without-pip", bare]);
  const keras = tinyKeras(bare);
  const editor = await openEditor({
    files: { "train.py": "import tensorflow as tf\nx = tf.constant(1.0)\n", "requirements.txt": `${keras}\n` },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"), "energyLsp.measurePython": path.join(bare, "bin/python") },
  });
  try {
    await editor.openFile("train.py");
    // The button above the file is there once the server has found something to measure.
    await editor.page.locator('.editor-actions [aria-label*="Measure This File"]').click({ timeout: 90_000 });
    const entries = editor.page.locator(".quick-input-list .monaco-list-row:visible");
    await entries.filter({ hasText: "Create an environment" }).waitFor({ timeout: 120_000 });
    assert.match((await entries.allInnerTexts()).join("\n"), /with TensorFlow and Keras\s+.*\.venv\/bin\/python/);
    await editor.choose("Create an environment");
    await editor.notifications().filter({ hasText: "Creating an environment" }).waitFor({ timeout: 60_000 });
    // With an environment that has what is needed, what will run is shown.
    const shown = editor.page.locator(".quick-input-list .monaco-list-row:visible", { hasText: "Measure once" });
    await shown.waitFor({ timeout: 240_000 });
    assert.match(await shown.innerText(), /Runs python train\.py with .*\.venv\/bin\/python/);
    assert.match(await entries.filter({ hasText: "Interpreter…" }).innerText(), /\.venv\/bin\/python \(Python 3[^)]*Keras/);
    assert.ok(fs.existsSync(path.join(editor.folder, ".venv/bin/python")));
    await editor.page.keyboard.press("Escape");
  } finally {
    await editor.close();
  }
});

/** A wheel of the name of Keras with nothing in it: installing the real one would take minutes. */
function tinyKeras(folder) {
  const wheel = path.join(folder, "keras-3.0.0-py3-none-any.whl");
  const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("keras/__init__.py", "")
    wheel.writestr("keras-3.0.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: keras\\nVersion: 3.0.0\\n")
    wheel.writestr("keras-3.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("keras-3.0.0.dist-info/RECORD", "")
`;
  execFileSync(path.join(root, ".venv/bin/python"), ["-c", script, wheel]);
  return wheel;
}
