// Measuring a whole workspace: a program of two modules, started from the energy view.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

const network = `import keras


def build() -> keras.Sequential:
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    return model


def quality(model: keras.Sequential, points, targets):
    return model.evaluate(points, targets, verbose=0)
`;
const train = `import os

import numpy as np

from network import build, quality

points = np.ones((4096, 8), "float32")
targets = np.ones((4096, 1), "float32")
assert os.environ["WIDTH"] == "2 rows"
model = build()
model.fit(points, targets, epochs=3, verbose=0)
print(quality(model, points, targets))
`;

const other = "import tensorflow as tf\nprint(tf.ones(3))\n";

let editor;
before(async () => {
  editor = await openEditor({
    files: { "network.py": network, "train.py": train, "other.py": other },
    settings: {
      "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"),
      "energyLsp.measurePython": path.join(root, ".venv/bin/python"),
    },
  });
  await editor.openFile("train.py");
  await editor.waitForEnergy();
}, { timeout: 180_000 });
after(() => editor?.close());

const rows = (text) => editor.page.locator(".part.panel .monaco-list-row", { hasText: text });
const measured = ["keras.Sequential.fit", "keras.Sequential.evaluate"];

describe("a workspace of two modules", { timeout: 600_000, concurrency: 1 }, () => {
  test("stands in the energy view before it is measured, also the file that is not open", async () => {
    await editor.command("Energy: Focus on Costliest Calls View");
    for (const name of ["train.py", "network.py"]) await rows(name).first().waitFor({ timeout: 60_000 });
    await rows("not measured here").first().waitFor({ timeout: 30_000 });
  });

  test("is measured with a click on the view, in one run with progress", async () => {
    await editor.screenshot("workspace");
    await editor.page.locator(".part.panel .pane-header", { hasText: /Costliest Calls/i }).hover({ timeout: 30_000 }); // its buttons come with the mouse
    await editor.page.locator('.part.panel [aria-label*="Measure Workspace"]').first().click({ timeout: 30_000 });
    // Nothing runs that was not ticked.
    const tick = editor.page.locator(".quick-input-list .monaco-list-row:visible", { hasText: "train.py" });
    await tick.waitFor({ timeout: 120_000 });
    assert.equal(await editor.page.locator(".quick-input-list input:checked").count(), 0);
    await tick.click();
    await editor.page.keyboard.press("Enter");
    // Variables are typed, checked, shown with what will run, and remembered for the next time.
    await editor.choose("Environment…");
    const box = editor.page.locator(".quick-input-widget:visible .quick-input-box input");
    await box.fill("TF_CPP_MIN_LOG_LEVEL=3 oops");
    await editor.page.locator(".quick-input-widget:visible .quick-input-message", { hasText: "oops is not NAME=VALUE" }).waitFor({ timeout: 30_000 });
    await box.fill("WIDTH='2 rows'");
    await box.press("Enter");
    const shown = await editor.choose("Measure once");
    assert.match(shown, /Runs WIDTH='2 rows' python train\.py with/);
    const progress = editor.notifications().filter({ hasText: "Measuring project" });
    await progress.filter({ hasText: "train.py, run 1 of 1" }).waitFor({ timeout: 90_000 });
    await progress.locator(".monaco-button", { hasText: "Cancel" }).waitFor();
    await editor.notifications().filter({ hasText: /(Estimated|Measured) here: / }).waitFor({ timeout: 300_000 });
    await editor.dismissNotifications();
  });

  test("then shows each call's own figure, in both files", async () => {
    for (const api of measured) {
      const row = rows(api).first();
      await until(async () => /[kmµ]?J · (<1|\d+)%/.test(await row.innerText()), 60_000, () => `no figure at ${api}`);
    }
    await editor.screenshot("workspace-measured");
    await editor.page.locator(".part.panel").getByText("keras.Sequential.evaluate").first().click();
    await editor.page.locator(".tab.active", { hasText: "network.py" }).waitFor({ timeout: 30_000 });
    await editor.waitForLine(network.split("\n").findIndex((line) => line.includes("evaluate")) + 1);
  });
});
