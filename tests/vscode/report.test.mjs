// The report's page in a real browser: zoom, pan and reset, sorting and filtering, narrow screens, words for charts, no network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(path.join(root, "client-vscode/package.json"))("playwright-core");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "energy-report-"));
const python = path.join(root, ".venv/bin/python");

// 100,000 calls in two lanes, phases, and three runs of the program.
const made = `
import random
from dataclasses import replace
from pathlib import Path
from energy_data.database.database import Database
from energy_data.model import *
from energy_lsp.cli import main
some = random.Random(1)
apis = ["keras.Sequential.fit", "tensorflow.linalg.matmul", "tensorflow.reshape"]
with Database.open(Path(${JSON.stringify(path.join(folder, "energy.db"))})) as db:
    for day in range(1, 4):
        run = Run(id=f"2026111{day}-run", machine=Machine("Xeon", "", 1 << 30, "Linux", ""), environment=Environment("3.11", "2.21.0", "3.15.1"),
            command="python train.py", started=f"2026-11-1{day}T02:00:00+00:00", meter="rapl", estimated=False, stable=True, seconds=100.0,
            joules={"cpu": Quantity(1000.0 * day, 0.1)}, project="/home/me/project", commit=f"c0ffee{day}000")
        calls = [Measurement(id="", run_id=run.id, api=apis[line % 3], file="pkg/train.py", line=line, signature=InputSignature(), seconds=0.1,
            joules={"cpu": Quantity(1.0 / line, 0.0)}, count=line, repeats=3, resolved=True, method="in place", low=0.9 / line, high=1.1 / line) for line in range(1, 301)]
        spans, now = [], 0.0
        for number in range(50_000 if day == 3 else 0):
            length = some.expovariate(1000)
            spans += [CallSpan(run.id, apis[number % 3], "pkg/train.py", number % 300 + 1, 0, now, now + length), CallSpan(run.id, apis[1], "pkg/train.py", 2, 1, now, now + length / 2)]
            now += 1.2 * length
        spans += [CallSpan(run.id, "step:one_step_on_iterator", "", 0, 0, 10.0, 11.0), CallSpan(run.id, "layer:net/conv · forward", "pkg/train.py", 7, 0, 10.1, 10.5), CallSpan(run.id, "layer:net/dense · backward", "pkg/train.py", 8, 0, 10.4, 10.9)]
        fit = calls[0] = replace(calls[0], id=f"fit-{day}")
        parts = [Part(run.id, fit.id, f"net/block_{number}", "Dense", way, "pkg/train.py", number + 7, 0.02, 0.001, 10, 5, 0.01, 0.03) for number in range(25) for way in ("forward", "backward")]
        phases = [Phase(run.id, "imports", 400.0 * day, 40.0, {"tensorflow.python.framework.ops.enable_eager_execution": 300.0}), Phase(run.id, "calls", 600.0 * day, 60.0), Phase(run.id, "unexplained", -2e-5, 0.0)]
        db.replace_run(run, calls, [Trace(run.id, "cpu", tuple(i / 50 for i in range(3000)), tuple(2 + i % 7 for i in range(3000)))], spans, phases, parts)
main(["report", "--db", ${JSON.stringify(path.join(folder, "energy.db"))}, "--html", ${JSON.stringify(path.join(folder, "report.html"))}, "--links"])
`;
let browser;

before(async () => {
  execFileSync(python, ["-c", made], { stdio: "pipe" });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true });
});

async function opened(width, colorScheme = "light") {
  const tab = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const wrong = [];
  tab.on("pageerror", (error) => wrong.push(error.message));
  tab.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  tab.on("request", (request) => !request.url().startsWith("file:") && wrong.push(request.url()));
  await tab.goto(`file://${path.join(folder, "report.html")}`);
  return { tab, wrong };
}
const view = (tab) => tab.evaluate(() => page.view());
async function settled(tab, wanted) {
  await tab.waitForFunction(wanted, undefined, { timeout: 60_000 });
}

test("100,000 calls zoom and pan by mouse and keyboard, and come back", async () => {
  const { tab, wrong } = await opened(1280);
  const [start, end] = await view(tab);
  assert.equal(start, 0);
  await tab.focus("#time");
  for (let press = 0; press < 12; press++) await tab.keyboard.press("w");
  await settled(tab, () => page.view()[1] - page.view()[0] < 2);
  const [closer] = await view(tab);
  await tab.keyboard.press("d");
  await settled(tab, () => document.querySelector("#time .tools .note").textContent.includes(" to "));
  assert.ok((await view(tab))[0] > closer);
  await tab.getByRole("button", { name: "Show the whole run" }).click();
  assert.deepEqual(await view(tab), [0, end]);
  const box = await tab.locator("#spans .u-over").boundingBox();
  await tab.mouse.move(box.x + 200, box.y + 8);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 400, box.y + 8, { steps: 4 });
  await tab.mouse.up();
  await settled(tab, () => page.view()[0] > 0);
  const dragged = await view(tab);
  assert.ok(dragged[1] - dragged[0] < 0.5 * end);
  await tab.keyboard.press("0");
  assert.deepEqual(wrong, []);
  await tab.close();
});

test("steps and layers lie under the calls", async () => {
  const { tab, wrong } = await opened(1280);
  const [, end] = await view(tab);
  const box = await tab.locator("#spans .u-over").boundingBox();
  const lanes = box.height / 5; // two of calls, one of steps, two of layers, which overlap
  const told = async (second, lane) => {
    await tab.mouse.move(box.x + (box.width * second) / end, box.y + (lane + 0.5) * lanes);
    return tab.textContent("#pointed");
  };
  assert.match(await told(10.8, 2), /^step one_step_on_iterator · 1\.00 s, from/);
  assert.match(await told(10.2, 3), /^layer net\/conv · forward · pkg\/train\.py:7/);
  assert.match(await told(10.8, 4), /^layer net\/dense · backward · pkg\/train\.py:8/);
  assert.match(await tab.textContent("#time-text"), /100,000 calls .* 3 steps and layers inside of them/);
  assert.deepEqual(wrong, []);
  await tab.close();
});

test("calls are sorted and filtered, and lead to the source", async () => {
  const { tab, wrong } = await opened(1280);
  const counts = () => tab.locator("#calls tbody tr td:nth-child(6)").allInnerTexts();
  await tab.getByRole("columnheader", { name: "calls" }).getByRole("button").click();
  assert.deepEqual((await counts()).slice(0, 2), ["300", "299"]);
  await tab.getByRole("columnheader", { name: "calls" }).getByRole("button").click();
  assert.deepEqual((await counts()).slice(0, 2), ["1", "2"]);
  assert.equal((await counts()).length, 25);
  await tab.getByRole("button", { name: "Show all 300 places" }).click();
  assert.equal((await counts()).length, 300);
  await tab.getByRole("searchbox", { name: "Filter by call or file" }).fill("train.py:17");
  assert.equal((await counts()).length, 11); // 17 and 170 to 179
  const cells = (column) => tab.locator(`#calls tbody tr td:nth-child(${column})`).allInnerTexts();
  assert.ok((await cells(5)).every((text) => /^(< )?[\d.]+ to (< )?[\d.]+$/.test(text)), "intervals are in the unit of their column");
  assert.ok((await cells(3)).every((text) => text === "< 0.1%"), "what took a joule of three thousand is not 0.0%");
  assert.ok((await cells(7)).every((text) => /^[\d.]+$/.test(text)), "seconds have no exponent");
  assert.equal(await tab.locator("#calls tbody a").first().getAttribute("href"), "vscode://file/home/me/project/pkg/train.py:17");
  assert.deepEqual(wrong, []);
  await tab.close();
});

test("each chart has words, and nothing leaves a narrow screen", async () => {
  const beside = await opened(620); // a report beside the source in an editor: no cards yet
  assert.equal(await beside.tab.locator("#phases").evaluate((part) => part.scrollWidth <= part.clientWidth), true);
  await beside.tab.close();
  for (const scheme of ["light", "dark"]) {
    const { tab, wrong } = await opened(375, scheme);
    assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    assert.match(await tab.locator("#phases [role=img]").getAttribute("aria-label"), /imports 40.0%, .*unexplained 0.0%|calls 60.0%, imports 40.0%/);
    assert.match(await tab.locator("#history [role=img]").getAttribute("aria-label"), /Energy of 3 runs, from 1.00 kJ/);
    assert.match(await tab.locator("#time-text").textContent(), /100,000 calls on the time line/);
    assert.match(await tab.locator("#headline").innerText(), /3.00 kJ \(0.833 Wh\)/);
    assert.equal(await tab.locator("#calls tbody td[data-label]").first().evaluate((cell) => getComputedStyle(cell).display), "flex");
    const cut = await tab.locator(".stack td, .stack th").evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent));
    assert.deepEqual(cut, [], "texts of cards are cut");
    assert.deepEqual(wrong, []);
    await tab.close();
  }
});

test("layers are boxes and a table, the costliest first, and words on colours can be read", async () => {
  const { tab, wrong } = await opened(1280);
  const rows = tab.locator("#layers tbody tr");
  assert.equal(await rows.count(), 10);
  assert.equal(await tab.innerText("#inside-legend"), "forward\nbackward");
  await tab.getByRole("button", { name: "Show all 25 layers" }).click();
  assert.equal(await rows.count(), 25);
  await tab.locator('#icicle .cell[aria-label*="net / block_3: "]').focus();
  assert.match(await tab.textContent("#inside-pointed"), /block_3: 40\.0 mJ, 4\.0%/);
  const contrasts = await tab.locator(".whole > div:not(.rest), #icicle .cell").evaluateAll((all) => {
    const light = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    return all.map((one) => getComputedStyle(one)).map(({ color, backgroundColor }) => [light(color), light(backgroundColor)].sort((a, b) => b - a)).map(([more, less]) => (more + 0.05) / (less + 0.05));
  });
  assert.ok(contrasts.length > 20);
  assert.ok(Math.min(...contrasts) >= 4.5, `contrast ${Math.min(...contrasts)}`);
  assert.deepEqual(wrong, []);
  await tab.close();
});
