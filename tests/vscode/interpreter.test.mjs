// The interpreter chosen in the Python extension: taken, followed when it changes, and not waited for when it does not come.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, packed, root, until } from "./editor.mjs";

const first = path.join(root, ".venv/bin/python");
const place = fs.mkdtempSync(path.join(os.tmpdir(), "energy-interpreter-"));
const choice = path.join(place, "chosen");

/** Another environment with the same packages in it. */
function secondInterpreter() {
  const folder = path.join(place, "second");
  execFileSync(first, ["-m", "venv", "--without-pip", folder]);
  const packages = (python) => execFileSync(python, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], { encoding: "utf8" }).trim();
  const python = path.join(folder, "bin/python");
  // site.addsitedir reads the first environment's own .pth files too: energy-lsp may be installed from its sources.
  fs.writeFileSync(path.join(packages(python), "first.pth"), `import site; site.addsitedir(${JSON.stringify(packages(first))})\n`);
  return python;
}

let editor;
before(async () => {
  fs.writeFileSync(choice, first);
  editor = await openEditor({
    files: { "train.py": "import tensorflow as tf\nx = tf.matmul(tf.ones([8, 8]), tf.ones([8, 8]))\n" },
    extensions: [packed(path.join(root, "tests/vscode/python_extension"), "python-extension")],
    env: { CHOSEN_INTERPRETER: choice },
  });
  await editor.openFile("train.py");
}, { timeout: 300_000 });
after(() => editor?.close());

const runsWith = (python) => () => editor.servers().length === 1 && editor.servers()[0].includes(`${python} -m energy_lsp serve`);
const complaint = () => `running: ${editor.servers().join("\n")}\n--- log:\n${editor.log()}`;

describe("the chosen interpreter", { timeout: 600_000, concurrency: 1 }, () => {
  test("runs the server when it has it", async () => {
    await until(runsWith(first), 90_000, complaint);
    await until(async () => (await editor.status().innerText()).trim() !== "Energy", 90_000, complaint);
    assert.equal(await editor.notifications().filter({ hasText: "energy-lsp" }).count(), 0);
  });

  test("is followed when another one is chosen", async () => {
    const second = secondInterpreter();
    fs.writeFileSync(choice, second);
    await until(runsWith(second), 90_000, complaint);
  });

  test("is not waited for when the Python extension does not answer", async () => {
    fs.writeFileSync(choice, "");
    // Without an answer the server would come from the private environment, which is not there yet.
    await editor.notifications().filter({ hasText: "not installed yet" }).waitFor({ timeout: 90_000 });
    await until(() => editor.servers().length === 0, 30_000, complaint);
  });
});
