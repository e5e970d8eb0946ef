// Proof in the program itself: "Try this fix here" to its end, and tuning and calibrating as far as a person who changes their mind.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

const rows = `import keras
import numpy as np

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, kernel_initializer="ones")])
rows = np.ones((40, 8), "float32")
total = 0.0
for start in range(40):
    scores = model.predict(rows[start : start + 1], verbose=0)
    total += float(scores[0, 0])
print("total", total)
`;

let editor;
before(async () => {
  editor = await openEditor({
    files: { "rows.py": rows },
    links: { ".venv": path.join(root, ".venv") },
    settings: { "energyLsp.path": path.join(root, ".venv/bin/energy-lsp") },
  });
  await editor.openFile("rows.py");
  await editor.waitForEnergy();
}, { timeout: 180_000 });
after(() => editor?.close());

const told = (text) => editor.notifications().filter({ hasText: text });
const working = () => editor.processes(/energy_lsp (tune|calibrate) |energy_measure|python.*rows\.py/);

/** Presses Cancel on a progress that has come so far, and waits until nothing of it runs. */
async function cancelled(title, stage) {
  const progress = told(title).filter({ hasText: stage }).first();
  await progress.waitFor({ timeout: 180_000 });
  await progress.locator(".monaco-button", { hasText: "Cancel" }).click({ timeout: 20_000 });
  await progress.waitFor({ state: "hidden", timeout: 90_000 });
  await until(() => working().length === 0, 90_000, () => `still running: ${working().join("\n")}`);
}

describe("proof in the program", { timeout: 900_000, concurrency: 1 }, () => {
  test("calibrating says with what, shows how far it is, and can be stopped", async () => {
    await editor.command("Energy: Calibrate This Machine");
    await editor.page.locator(".quick-input-widget:visible input[placeholder*='TensorFlow']").waitFor({ timeout: 90_000 });
    await editor.choose("Calibrate quickly");
    await cancelled("Calibrating this machine", /%|left|point|run|call/);
    await told("cancelled").waitFor({ timeout: 60_000 });
    assert.equal(await told("Calibrated:").count(), 0);
    await editor.dismissNotifications();
  });

  test("tuning names what will run, and says what is known when it is stopped", async () => {
    await editor.openFile("rows.py");
    await editor.command("Energy: Tune This Program");
    const shown = await editor.choose("Tune rows.py");
    assert.match(shown, /Runs python rows\.py with .*bin\/python.*copies of the project/s);
    await cancelled("Tune rows.py", /running|exploring/);
    await told(/Stopped early|cancelled/).waitFor({ timeout: 60_000 });
    assert.equal(editor.read("rows.py"), rows);
    await editor.dismissNotifications();
  });

  test("a fix is tried here, proven, and applied with a click", async () => {
    await editor.openFile("rows.py");
    await editor.goTo("rows.py", "model.predict(");
    await editor.act("Try this fix here (predict-loop)");
    await editor.choose("Try predict-loop in rows.py");
    const proven = told(/Proven: .* → .* a run \(−\d+%\).*results unchanged: predict-loop/);
    await proven.waitFor({ timeout: 600_000 });
    await editor.screenshot("proven");
    assert.equal(editor.read("rows.py"), rows, "nothing is changed before it is wanted");
    await proven.locator(".monaco-button", { hasText: "Apply" }).click();
    await until(async () => (await editor.page.locator(".editor-instance .view-lines").first().innerText()).includes("predict_on_batch"), 30_000, () => "the proven change is not applied");
    await editor.page.locator(".editor-instance .view-lines").first().click();
    await editor.page.keyboard.press("Control+S");
    await until(() => editor.read("rows.py").includes("predict_on_batch(rows[start : start + 1])"), 30_000, () => editor.read("rows.py"));
  });
});
