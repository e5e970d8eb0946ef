// A part of a program: a selection, a test, a cell. What it took is told, and nothing is stored.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root } from "./editor.mjs";

const sums = `import tensorflow as tf

x = tf.random.stateless_normal([200, 200], [1, 2])
y = tf.linalg.matmul(x, x)
print(float(tf.reduce_sum(y)))
`;
const tests = `import tensorflow as tf


def test_product():
    assert tf.linalg.matmul(tf.ones([64, 64]), tf.ones([64, 64])).shape == (64, 64)
`;
const cell = (source) => ({ cell_type: "code", execution_count: null, metadata: {}, outputs: [], source });
const notebook = JSON.stringify({ cells: [cell("import tensorflow as tf\nx = tf.ones([64, 64])"), cell("y = tf.linalg.matmul(x, x)")], metadata: { language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5 });

let editor;
before(async () => {
  editor = await openEditor({
    files: { "sums.py": sums, "test_sums.py": tests, "sums.ipynb": notebook },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"), "energyLsp.measurePython": path.join(root, ".venv/bin/python") },
  });
  await editor.openFile("sums.py");
  await editor.waitForEnergy();
}, { timeout: 180_000 });
after(() => editor?.close());

/** What is told of a part after it was confirmed; the confirmation names what will run. */
async function measured(command, named) {
  await editor.command(command);
  const shown = await editor.choose("Measure ", 60_000);
  assert.match(shown, named);
  const told = editor.notifications().filter({ hasText: /\d [kmµ]?J\b|too little/ }).first();
  await told.waitFor({ timeout: 300_000 });
  const text = await told.innerText();
  await editor.dismissNotifications();
  return text;
}

describe("a part of a program", { timeout: 900_000, concurrency: 1 }, () => {
  test("a selection is measured with what it needs before it", async () => {
    await editor.goTo("sums.py", "y = tf.linalg");
    await editor.page.keyboard.press("Home");
    await editor.page.keyboard.press("Shift+End");
    assert.match(await measured("Energy: Measure Selection", /Runs a copy of sums\.py/), /Line 4 of sums\.py: ≈? ?[\d.]+ [mµk]?J .*Nothing of it was stored/);
  });

  test("so is the test at the cursor", async () => {
    await editor.openFile("test_sums.py");
    await editor.goTo("test_sums.py", "assert tf");
    assert.match(await measured("Energy: Measure Test at Cursor", /Runs pytest test_sums\.py::test_product/), /test_product/);
  });

  test("and a cell", async () => {
    await editor.openFile("sums.ipynb");
    await editor.page.locator(".code-cell-row .view-line", { hasText: "matmul" }).first().click();
    assert.match(await measured("Energy: Measure Cell", /Runs a copy of the cells/), /Cell 2 of sums\.ipynb: .*Nothing of it was stored/);
  });
});
