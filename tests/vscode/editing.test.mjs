// A day with the extension in a real VS Code: look, fix, measure, report, notebooks.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";
import { movingPicture } from "./moving_picture.mjs";

const example = (name) => fs.readFileSync(path.join(root, "examples", name), "utf8");
const powers = "import tensorflow as tf\n\nx = tf.random.normal([1000])\ny = tf.pow(x, 2)\n";
const film = "import tensorflow as tf\n\nx = tf.random.normal([1000])\n";
const fails = 'import tensorflow as tf\n\nx = tf.ones(3)\nopen("no-such-data.npz")\n';
const python = path.join(root, ".venv/bin/python");

let editor;
before(async () => {
  editor = await openEditor({
    files: { "classifier.py": example("classifier.py"), "clusters.ipynb": example("clusters.ipynb"), "powers.py": powers, "film.py": film, "fails.py": fails },
    settings: {
      "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"),
      "energyLsp.measurePython": python,
    },
  });
  await editor.openFile("classifier.py");
}, { timeout: 180_000 });
after(() => editor?.close());

describe("in the editor", { timeout: 900_000, concurrency: 1 }, () => {
  test("a Python file activates the extension and the status item tells the file's energy", async () => {
    await editor.waitForEnergy();
    const item = editor.status();
    const label = await item.locator("a").getAttribute("aria-label");
    assert.match(label, /no figures.*server running/s);
    assert.doesNotMatch(label, /[*$█]/, "signs that a screen reader would spell");
  });

  test("a click on the status item opens the menu, and the meters can be seen", async () => {
    await editor.status().click();
    const entries = editor.page.locator(".quick-input-list .monaco-list-row");
    await entries.filter({ hasText: "Show meters" }).waitFor({ timeout: 20_000 });
    const offered = (await entries.allInnerTexts()).join("\n");
    for (const entry of ["Measure this file", "Measure workspace", "Tune this program", "Show runs", "Choose interpreter", "Calibrate this machine", "Open report", "costliest calls", "safe fixes on save", "inlay hints", "heat", "Restart server", "Show logs"]) {
      assert.ok(offered.includes(entry), `the menu lacks "${entry}":\n${offered}`);
    }
    await editor.screenshot("menu");
    await entries.filter({ hasText: "Show meters" }).click();
    const page = await frameWith(editor, "td strong");
    await until(async () => /cpu-time/.test(await page.innerText("body")), 30_000, () => "the meters are not listed");
    await editor.screenshot("meters");
    await editor.command("View: Close All Editors");
    await editor.openFile("classifier.py");
  });

  test("the logs can be shown", async () => {
    await editor.command("Energy: Show Logs");
    const shown = editor.page.locator(".part.panel .output-view-container, .part.panel .output-view").first();
    await until(async () => /\[(info|debug|trace)\]/.test(await shown.innerText()), 30_000, () => "the log does not show");
    await editor.page.keyboard.press("Control+j"); // the panel away again
  });

  test("a hover says what a call costs and where the figure comes from", async () => {
    await editor.goTo("classifier.py", "model.fit(");
    const text = await editor.hover("fit", /keras\.\w+\.fit/);
    assert.match(text, /not measured here yet/i);
    assert.match(text, /elsewhere .*\d [kmµ]?J\b/i);
    await editor.screenshot("hover");
  });

  test("findings stand in the Problems panel", async () => {
    await editor.command("View: Focus Problems");
    const problems = editor.page.locator(".markers-panel .monaco-list-row");
    await problems.filter({ hasText: "energy-lsp" }).first().waitFor({ timeout: 30_000 });
    const texts = await problems.allInnerTexts();
    assert.ok(texts.some((text) => /l2.loss/i.test(text)), `no finding for the halved sum of squares in:\n${texts.join("\n")}`);
    await editor.screenshot("problems");
  });

  test("Why? opens the evidence as a page with a picture", async () => {
    await editor.openFile("classifier.py");
    await editor.goTo("classifier.py", "tf.reduce_sum(tf.square(weights))");
    await editor.act("Why?");
    const page = await frameWith(editor, 'img[src^="data:image/svg"]');
    await until(() => page.evaluate(() => document.querySelector('img[src^="data:image/svg"]').naturalWidth > 100), 30_000, () => "the picture is not drawn");
    await editor.screenshot("why");
    await editor.command("View: Close All Editors");
  });

  test("a quick fix says what it saves, and changes the file", async () => {
    await editor.openFile("classifier.py");
    await editor.goTo("classifier.py", "tf.reduce_sum(tf.square(weights))");
    await editor.page.keyboard.press("Control+.");
    const action = editor.page.locator(".action-widget .monaco-list-row", { hasText: "half the sum of squares" }).first();
    await action.waitFor({ timeout: 30_000 });
    assert.match(await action.innerText(), /−\d+% ± \d+/);
    await editor.screenshot("quick-fix");
    await editor.page.keyboard.press("Enter"); // the first action has the focus
    await until(async () => (await visibleCode(editor)).includes("tf.nn.l2_loss(weights)"), 20_000, () => "the fix was not applied");
    await editor.page.keyboard.press("Control+S");
    await until(() => editor.read("classifier.py").includes("penalty = tf.nn.l2_loss(weights)"), 20_000, () => editor.read("classifier.py"));
    assert.equal(editor.read("classifier.py"), example("classifier.py").replace("tf.reduce_sum(tf.square(weights)) / 2", "tf.nn.l2_loss(weights)"));
  });

  test("edit, hint, fix, saving: a moving picture", async () => {
    await editor.command("View: Close All Editors");
    await editor.openFile("film.py");
    await editor.waitForEnergy();
    await editor.command("View: Toggle Primary Side Bar Visibility");
    const frames = [];
    const clip = { x: 0, y: 0, width: 1080, height: 380 };
    const frame = async (shown) => frames.push({ png: await editor.page.screenshot({ clip, animations: "disabled", caret: "initial" }), shown });
    await editor.page.locator(".editor-instance .view-lines").first().click();
    await editor.page.keyboard.press("Control+End");
    await frame(1200);
    for (const piece of ["y = tf.reduce_sum(", "tf.pow(x, 2))"]) {
      await editor.page.keyboard.insertText(piece);
      await frame(700);
    }
    await until(async () => (await squiggles(editor)) > 0, 60_000, () => "no finding where it was typed");
    await frame(900);
    await editor.hover("reduce_sum", /Not measured|≈/);
    await editor.page.keyboard.press("Escape");
    await editor.page.mouse.move(5, 5);
    await editor.page.keyboard.press("ArrowLeft");
    await editor.page.keyboard.press("ArrowLeft");
    await editor.page.keyboard.press("Control+.");
    const action = editor.page.locator(".action-widget .monaco-list-row", { hasText: /−\d+% ± \d+/ }).first();
    await action.waitFor({ timeout: 30_000 });
    await frame(2200);
    await editor.page.keyboard.press("Enter");
    await until(async () => (await visibleCode(editor)).includes("tf.square(x)"), 20_000, () => "the fix was not applied");
    await frame(1800);
    const picture = movingPicture(frames);
    assert.ok(picture.length < 2_000_000, `${picture.length} bytes`);
    fs.writeFileSync(path.join(path.dirname(await editor.screenshot("fixed")), "edit-hint-fix.png"), picture);
    await editor.command("View: Toggle Primary Side Bar Visibility");
    await editor.openFile("film.py");
    await editor.page.keyboard.press("Control+S");
  });

  test("safe fixes are applied on save once that is switched on, and not before", async () => {
    await editor.openFile("powers.py");
    await until(async () => (await squiggles(editor)) > 0, 60_000, () => "no finding in powers.py");
    await typeAtEnd(editor, "# one");
    await until(() => editor.read("powers.py").includes("# one"), 30_000, () => "not saved");
    assert.ok(editor.read("powers.py").includes("tf.pow(x, 2)"));
    await editor.command("Energy: Toggle Safe Fixes on Save");
    await editor.notifications().filter({ hasText: "are applied when a Python file is saved" }).waitFor({ timeout: 30_000 });
    await editor.dismissNotifications();
    await editor.openFile("powers.py");
    await typeAtEnd(editor, "# two");
    await until(() => editor.read("powers.py").includes("# two"), 30_000, () => "not saved");
    assert.equal(editor.read("powers.py"), `${powers.replace("tf.pow(x, 2)", "tf.square(x)")}# one# two`);
    await editor.command("Energy: Toggle Safe Fixes on Save");
    await editor.notifications().filter({ hasText: "no longer applied" }).waitFor({ timeout: 30_000 });
    await editor.dismissNotifications();
    await editor.openFile("classifier.py");
  });

  test("a measurement can be cancelled and then leaves nothing running", async () => {
    const shown = await editor.measure("Energy: Measure This File");
    assert.match(shown, /Runs python classifier\.py with .*\.venv\/bin\/python/);
    const progress = editor.notifications().filter({ hasText: /[Mm]easur/ }).first();
    await progress.waitFor({ timeout: 30_000 });
    const measuring = () => editor.processes(/energy_measure|energy_lsp\.cli.* measure |python.*classifier\.py/);
    await until(() => measuring().length > 0, 60_000, () => "nothing is run");
    await progress.locator(".monaco-button", { hasText: "Cancel" }).click({ timeout: 20_000 });
    await editor.notifications().filter({ hasText: "Measuring was cancelled" }).waitFor({ timeout: 60_000 });
    await until(() => measuring().length === 0, 60_000, () => `still running: ${measuring().join("\n")}`);
  });

  test("measuring changes the hover from elsewhere to estimated or measured here", async () => {
    await editor.dismissNotifications();
    await editor.openFile("classifier.py");
    await editor.command("Energy: Measure This File");
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "Measure five times" }).waitFor({ timeout: 120_000 });
    await editor.screenshot("measure-choice");
    await editor.choose("Measure once");
    await editor.notifications().filter({ hasText: /Measuring classifier\.py: .*running/ }).waitFor({ timeout: 90_000 });
    await editor.page.mouse.move(200, 10); // off the button, whose tooltip would stand in the picture
    await editor.page.locator(".workbench-hover").first().waitFor({ state: "hidden", timeout: 30_000 });
    await editor.screenshot("measuring");
    const told = editor.notifications().filter({ hasText: /(Estimated|Measured) here: / });
    await told.waitFor({ timeout: 300_000 });
    const [, ofCalls] = /([\d.]+ [kmµ]?J) of it in the calls of this file/.exec(await told.innerText());
    await until(async () => (await editor.status().innerText()).includes(ofCalls), 30_000, () => `the status item does not say ${ofCalls}`);
    await editor.notifications().filter({ hasText: "calibrate this machine once" }).waitFor({ timeout: 30_000 });
    await editor.dismissNotifications();
    await editor.goTo("classifier.py", "model.fit(");
    const text = await editor.hover("fit", /(estimated|measured) here/i);
    assert.doesNotMatch(text, /no figure/i);
    await editor.screenshot("hover-measured");
  });

  test("heat marks the hungry lines, until it is switched off", async () => {
    const marks = editor.heatMarks();
    await until(async () => (await marks.count()) > 0, 30_000, () => "no mark in the gutter");
    await editor.command("Energy: Toggle Heat");
    await until(async () => (await marks.count()) === 0, 30_000, () => "the marks stay");
    await editor.command("Energy: Toggle Heat");
    await until(async () => (await marks.count()) > 0, 30_000, () => "the marks do not come back");
  });

  test("the energy view lists the costliest calls and jumps to them", async () => {
    await editor.command("Energy: Focus on Costliest Calls View");
    const row = editor.page.locator(".pane-body .monaco-list-row", { hasText: "keras.Sequential.fit" }).first();
    await row.waitFor({ timeout: 30_000 });
    assert.match(await row.innerText(), /█.*J · \d+%/s);
    assert.match(await row.getAttribute("aria-label"), /fit: about .*joules.*, \d+ percent/);
    // What took next to nothing is one row.
    await editor.page.locator(".pane-body .monaco-list-row", { hasText: /\d+ calls of less than 1% each/ }).first().waitFor({ timeout: 30_000 });
    await row.locator(".monaco-tl-twistie.collapsible").click({ timeout: 20_000 });
    const layer = editor.page.locator(".pane-body .monaco-list-row", { hasText: /conv2d/ }).first();
    await layer.waitFor({ timeout: 30_000 });
    assert.match(await layer.getAttribute("aria-label"), /conv2d.*joules.*percent/);
    await editor.screenshot("energy-view");
    const phases = editor.page.locator(".pane-body .monaco-list-row", { hasText: "Phases of the last run" }).first();
    await until(
      async () => {
        // A view that is drawn anew at that moment may not feel the click.
        if ((await phases.getAttribute("aria-expanded")) === "false") await phases.locator(".monaco-tl-twistie").click({ timeout: 5000 });
        return editor.page.locator(".pane-body .monaco-list-row", { hasText: "imports" }).first().waitFor({ timeout: 5000 }).then(() => true);
      },
      30_000,
      () => "the phases do not open",
    );
    await row.click();
    const line = example("classifier.py").split("\n").findIndex((text) => text.includes("model.fit(")) + 1;
    await editor.waitForLine(line);
  });

  test("inlay hints can be switched off and on", async () => {
    await editor.goTo("classifier.py", "model.fit(");
    const hints = async () => /≈ [\d.]+ [mk]?J · \d+%/.test(await visibleCode(editor));
    await until(hints, 30_000, () => "no inlay hint");
    await editor.command("Energy: Toggle Inlay Hints");
    await until(async () => !(await hints()), 30_000, () => "the inlay hints stay");
    await editor.command("Energy: Toggle Inlay Hints");
    await until(hints, 30_000, () => "the inlay hints do not come back");
  });

  test("the bulb at a hotspot leads on, and what could cost less is a page", async () => {
    await editor.openFile("classifier.py");
    await editor.goTo("classifier.py", "model.fit(");
    await editor.page.keyboard.press("Control+.");
    const actions = editor.page.locator(".action-widget .monaco-list-row");
    await actions.filter({ hasText: "Look inside fit" }).waitFor({ timeout: 30_000 });
    const offered = (await actions.allInnerTexts()).join("\n");
    for (const title of ["Measure here again: fit", "Open the report of the last run", "What could cost less?"]) assert.ok(offered.includes(title), offered);
    await editor.screenshot("hotspot");
    await editor.page.keyboard.press("Escape");
    await editor.act("Look inside fit");
    const page = await frameWith(editor, "h1");
    await until(async () => /Inside keras\.Sequential\.fit/.test(await page.innerText("body")), 30_000, () => "the layers are not shown");
    await editor.command("View: Close All Editors");
  });

  test("a program that fails is told in a sentence, with its line, output and partial report", async () => {
    await editor.openFile("fails.py");
    await editor.measure("Energy: Measure This File");
    const told = editor.notifications().filter({ hasText: /fails\.py stopped: FileNotFoundError.*\(line 4\)/ });
    await told.waitFor({ timeout: 300_000 });
    for (const button of ["Show Output", "Partial Report", "Go to Line"]) await told.locator(".monaco-button", { hasText: button }).waitFor();
    await editor.screenshot("failed-run");
    await told.locator(".monaco-button", { hasText: "Show Output" }).click();
    await editor.page.locator(".tab.active", { hasText: "program-output.txt" }).waitFor({ timeout: 30_000 });
    await editor.command("View: Close All Editors");
    await editor.openFile("classifier.py");
  });

  test("runs are listed, compared and deleted", async () => {
    await editor.command("Energy: Focus on Runs View");
    const runs = editor.page.locator('.pane-body .monaco-list-row[aria-label*="joules"]').filter({ hasText: /\.py · / }).filter({ hasNotText: "Phases" });
    await runs.filter({ hasText: "fails.py" }).first().waitFor({ timeout: 30_000 });
    await editor.screenshot("runs");
    await editor.command("Energy: Compare Runs");
    await editor.choose("classifier.py");
    await editor.choose("fails.py");
    const page = await frameWith(editor, "table");
    await until(async () => /two runs/.test(await page.innerText("body")), 30_000, () => "the runs are not compared");
    await editor.command("View: Close All Editors");
    await editor.command("Energy: Show History of a Program");
    await editor.choose("classifier.py");
    await frameWith(editor, 'img[src^="data:image/svg"]');
    await editor.screenshot("history");
    await editor.command("View: Close All Editors");
    const failed = runs.filter({ hasText: "fails.py" });
    await editor.command("Energy: Focus on Runs View");
    await failed.first().click();
    await frameWith(editor, "#power"); // its partial report opens
    await failed.first().click();
    await editor.page.keyboard.press("Delete");
    await editor.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Delete" }).click({ timeout: 30_000 });
    await until(async () => (await failed.count()) === 0, 30_000, () => "the run stays");
    await editor.command("View: Close All Editors");
    await editor.openFile("classifier.py");
  });

  test("the report draws the run", async () => {
    await editor.command("View: Hide Panel");
    await editor.command("View: Toggle Primary Side Bar Visibility");
    await editor.command("Energy: Open Report");
    const frame = await frameWith(editor, "#power");
    await frame.waitForSelector("canvas", { timeout: 30_000 });
    // Plots that are not blank: the canvases of power and of calls have ink of several colours.
    await until(async () => (await coloursOf(frame, "#power canvas")) >= 2, 30_000, () => "the power curve is blank");
    await until(async () => (await coloursOf(frame, "#spans canvas")) >= 2, 30_000, () => "no spans are drawn");
    assert.match(await frame.innerText("body"), /estimated with|measured with/);
    assert.ok((await frame.locator("#calls tbody tr").count()) > 3);
    await editor.screenshot("report");
    const dark = await inkAndPaper(frame);
    await editor.command("Preferences: Toggle between Light/Dark Themes");
    await until(async () => (await inkAndPaper(frame)).paper > 200, 30_000, () => "the report does not follow the theme");
    const light = await inkAndPaper(frame);
    for (const { ink, paper } of [dark, light]) assert.ok(Math.abs(ink - paper) > 120, `text of brightness ${ink} on ${paper}`);
    await until(async () => (await coloursOf(frame, "#power canvas")) >= 2, 30_000, () => "the power curve is blank in the light theme");
    await until(() => editor.hasLoaded("-light.svg"), 30_000, () => "the heat keeps the colours of the dark theme");
    await editor.screenshot("report-light");
    await editor.command("Preferences: Toggle between Light/Dark Themes");
    await editor.command("View: Toggle Primary Side Bar Visibility");
  });

  test("high contrast has its heat, and a narrow window heat, sum and status", async () => {
    await editor.command("View: Close All Editors");
    await editor.openFile("classifier.py");
    await editor.goTo("classifier.py", "model.fit(");
    await editor.theme("Dark High Contrast");
    await editor.page.locator(".monaco-workbench.hc-black").waitFor({ timeout: 30_000 });
    await until(async () => (await editor.heatMarks().count()) > 0, 30_000, () => "no heat in high contrast");
    await editor.command("Energy: Focus on Costliest Calls View");
    await editor.page.locator(".pane-body .monaco-list-row", { hasText: "keras.Sequential.fit" }).first().waitFor({ timeout: 30_000 });
    await editor.screenshot("high-contrast");
    await editor.theme("Light High Contrast");
    await editor.page.locator(".monaco-workbench.hc-light").waitFor({ timeout: 30_000 });
    await until(async () => (await editor.heatMarks().count()) > 0, 30_000, () => "no heat in light high contrast");
    await editor.theme("Dark Modern");
    await editor.page.locator(".monaco-workbench.vs-dark").waitFor({ timeout: 30_000 });
    await editor.command("View: Hide Panel");
    await editor.command("View: Toggle Primary Side Bar Visibility");
    await editor.page.setViewportSize({ width: 640, height: 800 });
    try {
      // Behind a line of more than half the window hints are cut; marks, the sum above the function and the status item are not.
      await until(async () => (await editor.heatMarks().count()) > 0, 30_000, () => "no heat in a narrow window");
      await editor.page.locator(".codelens-decoration", { hasText: /J/ }).first().waitFor({ timeout: 30_000 });
      await until(async () => /\d [mk]?J/.test(await editor.status().innerText()), 30_000, () => "the status item says nothing");
      await editor.screenshot("narrow");
    } finally {
      await editor.page.setViewportSize({ width: 1280, height: 900 });
      await editor.command("View: Toggle Primary Side Bar Visibility");
    }
  });

  test("notebooks: a hover in a cell", async () => {
    await editor.command("View: Close All Editors");
    await editor.openFile("clusters.ipynb");
    const cell = JSON.parse(example("clusters.ipynb")).cells.map(({ source }) => [source].flat().join("")).join("\n");
    const [, method] = /tf(?:\.\w+)*\.(\w+)\(/.exec(cell);
    await editor.hover(method, /tensorflow\.|keras\./);
    await editor.screenshot("notebook");
  });

  test("notebooks: findings in a cell, with what their fix saves", async () => {
    await until(async () => (await squiggles(editor)) > 0, 60_000, () => "no finding in a cell");
    await editor.hover("one_hot", /−\d+% ± \d+/); // the diagnostic's own text in the hover
    await editor.page.locator(".view-line span > span", { hasText: "one_hot" }).first().click();
    await editor.page.keyboard.press("Control+.");
    const action = editor.page.locator(".action-widget .monaco-list-row", { hasText: /−\d+% ± \d+/ }).first();
    await action.waitFor({ timeout: 30_000 });
    await editor.page.keyboard.press("Escape");
  });

  test("notebooks: measured with a click on the toolbar", async () => {
    await editor.page.locator('.notebook-toolbar-container [aria-label*="Measure This Notebook"]').first().click({ timeout: 30_000 });
    await editor.choose("Measure once");
    await editor.notifications().filter({ hasText: "Measuring clusters.ipynb" }).waitFor({ timeout: 30_000 });
    await editor.notifications().filter({ hasText: /(Estimated|Measured) here: / }).waitFor({ timeout: 300_000 });
    await editor.dismissNotifications();
    await editor.hover("stateless_uniform", /(estimated|measured) here/i);
    await editor.waitForEnergy();
    // Each cell has the marks of its own lines: the imports have none, and no cell more than it has lines.
    const cells = editor.page.locator(".notebookOverlay .code-cell-row, .notebook-editor .cell-list-container .code-cell-row");
    await until(async () => (await editor.heatMarks().count()) > 0, 30_000, () => "no cell has a mark");
    const marks = await cells.evaluateAll((rows) => rows.map((row) => [row.querySelectorAll('.glyph-margin-widgets [class*="ced-"]').length, row.querySelectorAll(".view-line").length]));
    assert.ok(marks.length > 1, "the cells are not found");
    assert.equal(marks[0][0], 0, `marks and lines by cell: ${JSON.stringify(marks)}`);
    for (const [count, lines] of marks) assert.ok(count <= lines, `marks and lines by cell: ${JSON.stringify(marks)}`);
    await editor.screenshot("notebook-measured");
  });

  test("the walkthrough leads from a hover to a measurement", async () => {
    await editor.command("View: Close All Editors");
    await editor.command("Welcome: Open Walkthrough...");
    await editor.page.keyboard.type("See what your model costs");
    await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "See what your model costs" }).first().click({ timeout: 20_000 });
    await editor.page.locator(".gettingStartedContainer .step-title", { hasText: "Measure it here" }).waitFor({ timeout: 30_000 });
    // The server runs, so there is nothing left to install.
    await editor.page.locator('.codicon.complete[data-done-step-id$="#install"]').first().waitFor({ timeout: 30_000 });
    await editor.screenshot("walkthrough");
  });
});

async function visibleCode(editor) {
  return (await editor.page.locator(".editor-instance .view-lines").first().innerText()).replaceAll("\u00a0", " ");
}

/** Adds to the end of the open file and saves it. */
async function typeAtEnd(editor, text) {
  await editor.page.locator(".editor-instance .view-lines").first().click();
  await editor.page.keyboard.press("Control+End");
  await editor.page.keyboard.type(text);
  await editor.page.keyboard.press("Control+S");
}

function squiggles(editor) {
  return editor.page.locator(".squiggly-info:visible").count();
}

/** The frame of a webview that holds such an element. */
async function frameWith(editor, selector) {
  let found;
  await until(
    async () => {
      for (const frame of editor.page.frames()) {
        if ((await frame.locator(selector).count()) > 0) found = frame;
      }
      return found !== undefined;
    },
    60_000,
    () => `no webview shows ${selector}`,
  );
  return found;
}

/** How many colours a canvas shows, specks left out. */
function coloursOf(frame, selector) {
  return frame.evaluate((wanted) => {
    const canvas = document.querySelector(wanted);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 128) {
        const key = `${data[at] >> 5},${data[at + 1] >> 5},${data[at + 2] >> 5}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    }
    return [...seen.values()].filter((count) => count > 50).length;
  }, selector);
}

/** Brightness of the page's text and background, 0 to 255. */
function inkAndPaper(frame) {
  return frame.evaluate(() => {
    const style = getComputedStyle(document.body);
    const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number).reduce((sum, part) => sum + part, 0) / 3;
    return { ink: brightness(style.color), paper: brightness(style.backgroundColor) };
  });
}
