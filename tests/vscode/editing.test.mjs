// A day with the extension in a real VS Code: look, fix, measure, report, notebooks, a server that dies.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

const example = (name) => fs.readFileSync(path.join(root, "examples", name), "utf8");
const python = path.join(root, ".venv/bin/python");

let editor;
before(async () => {
  editor = await openEditor({
    files: { "classifier.py": example("classifier.py"), "clusters.ipynb": example("clusters.ipynb") },
    settings: {
      "energyLsp.path": path.join(root, ".venv/bin/energy-lsp"),
      "energyLsp.measurePython": python,
      "energyLsp.measureArguments": ["--quick"],
    },
  });
  await editor.openFile("classifier.py");
}, { timeout: 180_000 });
after(() => editor?.close());

describe("in the editor", { timeout: 900_000, concurrency: 1 }, () => {
  test("a Python file activates the extension and the status item tells the file's energy", async () => {
    const item = editor.status();
    await until(async () => /[kmµ]?(J|Wh)\b/.test(await item.innerText()), 60_000, () => `no energy in the status item; log:\n${editor.log()}`);
    assert.match(await item.locator("a").getAttribute("aria-label"), /meter: /);
  });

  test("a hover says what a call costs and where the figure comes from", async () => {
    await editor.goTo("classifier.py", "model.fit(");
    const text = await editor.hover("fit", /keras\.\w+\.fit/);
    assert.match(text, /published/i);
    assert.match(text, /\d [kmµ]?(J|Wh)\b/);
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

  test("a quick fix says what it saves, and changes the file", async () => {
    await editor.openFile("classifier.py");
    await editor.goTo("classifier.py", "tf.reduce_sum(tf.square(weights))");
    await editor.page.keyboard.press("Control+.");
    const action = editor.page.locator(".action-widget .monaco-list-row", { hasText: "half the sum of squares" }).first();
    await action.waitFor({ timeout: 30_000 });
    await editor.screenshot("quick-fix");
    await editor.page.keyboard.press("Enter"); // the first action has the focus
    await until(async () => (await visibleCode(editor)).includes("tf.nn.l2_loss(weights)"), 20_000, () => "the fix was not applied");
    await editor.page.keyboard.press("Control+S");
    await until(() => editor.read("classifier.py").includes("penalty = tf.nn.l2_loss(weights)"), 20_000, () => editor.read("classifier.py"));
    assert.equal(editor.read("classifier.py"), example("classifier.py").replace("tf.reduce_sum(tf.square(weights)) / 2", "tf.nn.l2_loss(weights)"));
  });

  test("inlay hints can be switched off and on", async () => {
    await editor.goTo("classifier.py", "model.fit(");
    const hints = async () => (await visibleCode(editor)).includes("⚡");
    await until(hints, 30_000, () => "no inlay hint");
    await editor.command("Energy: Toggle Inlay Hints");
    await until(async () => !(await hints()), 30_000, () => "the inlay hints stay");
    await editor.command("Energy: Toggle Inlay Hints");
    await until(hints, 30_000, () => "the inlay hints do not come back");
  });

  test("heat marks the hungry lines, until it is switched off", async () => {
    const marks = editor.page.locator('.glyph-margin-widgets [class*="ced-"]');
    await until(async () => (await marks.count()) > 0, 30_000, () => "no mark in the gutter");
    await editor.command("Energy: Toggle Heat");
    await until(async () => (await marks.count()) === 0, 30_000, () => "the marks stay");
    await editor.command("Energy: Toggle Heat");
    await until(async () => (await marks.count()) > 0, 30_000, () => "the marks do not come back");
  });

  test("the energy view lists the hungriest calls and jumps to them", async () => {
    await editor.command("Energy: Focus on Hungriest Calls View");
    const row = editor.page.locator(".pane-body .monaco-list-row", { hasText: "keras.Sequential.fit" }).first();
    await row.waitFor({ timeout: 30_000 });
    assert.match(await row.innerText(), /█.*(J|Wh).*published/s);
    await editor.screenshot("energy-view");
    await row.click();
    const line = example("classifier.py").split("\n").findIndex((text) => text.includes("model.fit(")) + 1;
    await until(async () => (await editor.page.locator('.statusbar-item[id="status.editor.selection"]').innerText()).includes(`Ln ${line},`), 20_000, () => "the cursor did not jump");
  });

  test("a measurement can be cancelled and then leaves nothing running", async () => {
    await editor.command("Energy: Measure This File");
    const progress = editor.notifications().filter({ hasText: /[Mm]easur/ }).first();
    await progress.waitFor({ timeout: 30_000 });
    await progress.locator(".monaco-button", { hasText: "Cancel" }).click({ timeout: 20_000 });
    await until(() => processes(editor, "energy_measure").length === 0 && processes(editor, "measure").length === 0, 30_000, () => `still running: ${processes(editor, "measure").join("\n")}`);
  });

  test("measuring changes the hover from published to estimated or measured here", async () => {
    await editor.dismissNotifications();
    await editor.openFile("classifier.py");
    await editor.command("Energy: Measure This File");
    await editor.notifications().filter({ hasText: /[Mm]easur/ }).first().waitFor({ timeout: 30_000 });
    await editor.screenshot("measuring");
    await editor.notifications().filter({ hasText: /(Estimated|Measured) here: / }).waitFor({ timeout: 300_000 });
    await editor.dismissNotifications();
    await editor.goTo("classifier.py", "model.fit(");
    const text = await editor.hover("fit", /(estimated|measured) here/i);
    assert.doesNotMatch(text, /no figure/i);
    await editor.screenshot("hover-measured");
    // The energy view sets the value before the measurement beside the new one.
    const row = editor.page.locator(".pane-body .monaco-list-row", { hasText: "keras.Sequential.fit" }).first();
    await until(async () => /here, before /.test(await row.innerText()), 30_000, () => "the view does not show the value before");
  });

  test("the report draws the run", async () => {
    await editor.command("Energy: Open Report");
    const frame = await reportFrame(editor);
    await frame.waitForSelector("canvas", { timeout: 30_000 });
    await editor.page.waitForTimeout(500);
    // A plot that is not blank: the power curve's canvas has ink of several colours.
    const colours = await frame.evaluate(() => {
      const canvas = document.querySelector("#power canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Map();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 128) {
          const key = `${data[at] >> 5},${data[at + 1] >> 5},${data[at + 2] >> 5}`;
          seen.set(key, (seen.get(key) ?? 0) + 1);
        }
      }
      return [...seen.values()].filter((count) => count > 50).length;
    });
    assert.ok(colours >= 2, `the plot shows ${colours} colours`);
    assert.match(await frame.innerText("body"), /estimated with|measured with/);
    assert.ok((await frame.locator("#calls tbody tr").count()) > 3);
    await editor.screenshot("report");
  });

  test("notebooks: a hover in a cell", async () => {
    await editor.command("View: Close All Editors");
    await editor.openFile("clusters.ipynb");
    const cell = JSON.parse(example("clusters.ipynb")).cells.map(({ source }) => [source].flat().join("")).join("\n");
    const [, method] = /tf(?:\.\w+)*\.(\w+)\(/.exec(cell);
    await editor.hover(method, /tensorflow\.|keras\./);
    await editor.screenshot("notebook");
  });

  test("a server that is killed comes back by itself", async () => {
    await editor.command("View: Close All Editors");
    await editor.openFile("classifier.py");
    const [pid] = processes(editor, "serve");
    process.kill(Number(pid.split(" ")[0]), "SIGKILL");
    await until(() => processes(editor, "serve").some((line) => line !== pid), 60_000, () => "no new server");
    await editor.goTo("classifier.py", "model.fit(");
    await editor.hover("fit", /keras\.\w+\.fit/);
    assert.equal(await editor.notifications().filter({ hasText: "does not run" }).count(), 0);
  });
});

async function visibleCode(editor) {
  return (await editor.page.locator(".editor-instance .view-lines").first().innerText()).replaceAll("\u00a0", " ");
}

async function reportFrame(editor) {
  let found;
  await until(
    async () => {
      for (const frame of editor.page.frames()) {
        if ((await frame.locator("#power").count()) > 0) found = frame;
      }
      return found !== undefined;
    },
    60_000,
    () => "the report does not open",
  );
  return found;
}

/** Command lines of processes of this editor that hold a word. */
function processes(editor, word) {
  const all = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n").map((line) => line.trim());
  return all.filter((line) => line.includes("energy") && line.split(" ").includes(word) && environmentOf(line).includes(editor.home));
}

function environmentOf(line) {
  try {
    return fs.readFileSync(`/proc/${line.split(" ")[0]}/environ`, "utf8");
  } catch {
    return "";
  }
}
