// When the extension wakes up: for a notebook alone, and not for files that are no Python.
import assert from "node:assert/strict";
import fs from "node:fs";
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
