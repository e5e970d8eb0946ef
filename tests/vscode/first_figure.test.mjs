// From a fresh machine to the first true figure: four clicks at most, keys none. The time is told and decides nothing: machines differ.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

const clicksAllowed = 4;

test("opened, installed, measured: the first figure", { timeout: 600_000 }, async (t) => {
  const began = performance.now();
  const editor = await openEditor({
    files: { "classifier.py": fs.readFileSync(path.join(root, "examples/classifier.py"), "utf8") },
    // The project has an environment with TensorFlow, as any that ran before; the editor knows nothing of it or of energy-lsp.
    links: { ".venv": path.join(root, ".venv") },
  });
  try {
    await countClicks(editor);
    const since = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
    await editor.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "classifier.py" }).click({ timeout: 60_000 });
    const install = editor.notifications().filter({ hasText: "not installed yet" }).locator(".monaco-button", { hasText: "Install" });
    await install.waitFor({ timeout: 90_000 });
    await settled(editor, install);
    await install.click();
    await editor.waitForEnergy(300_000);
    t.diagnostic(`installed after ${since()}`);
    await editor.page.locator('.editor-actions [aria-label*="Measure This File"]').click({ timeout: 90_000 });
    const shown = await editor.choose("Measure once");
    assert.match(shown, /Runs python classifier\.py with .*\.venv\/bin\/python/);
    const told = editor.notifications().filter({ hasText: /(Estimated|Measured) here: / });
    await told.waitFor({ timeout: 300_000 });
    const [, figure] = /([\d.]+ [kmµ]?J) of it in the calls of this file/.exec(await told.innerText());
    await until(async () => (await editor.status().innerText()).includes(figure), 30_000, () => `the status item does not say ${figure}`);
    const clicks = await editor.page.evaluate(() => window.clicks);
    t.diagnostic(`first figure after ${since()} and ${clicks} clicks`);
    assert.ok(clicks <= clicksAllowed, `${clicks} clicks`);
  } finally {
    await editor.close();
  }
});

/** Counts what a hand would do, also presses that miss. */
async function countClicks(editor) {
  await editor.page.evaluate(() => {
    window.clicks = 0;
    addEventListener("pointerdown", (event) => (window.clicks += event.isTrusted ? 1 : 0), true);
  });
}

/** A message slides in: a person waits until it stands still. */
async function settled(editor, locator) {
  let before;
  await until(
    async () => {
      const box = JSON.stringify(await locator.boundingBox());
      const still = box === before;
      before = box;
      return still;
    },
    20_000,
    () => "the message does not stand still",
  );
}
