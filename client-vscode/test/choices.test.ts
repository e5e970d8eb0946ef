import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenLabel, commandsText, environmentOf, environmentProblem, expectedTime, interpreterLabel, splitArguments, testAround } from "../src/format/choices";
import { byLayer, heatByLine, runDescription, runLabel, spoken } from "../src/format/figures";
import type { CallSummary, PartSummary, RunSummary } from "../src/server/protocol";

const bare = { path: "/home/me/project/.venv/bin/python", version: "3.11.7", tensorflow: true, keras: true };

test("what will run is named as in a terminal", () => {
  assert.equal(commandsText(["train.py"], "--epochs 2"), "python train.py --epochs 2");
  assert.equal(commandsText(["a.py", "b.py", "c.py", "d.py", "e.py"], ""), "python a.py, b.py, c.py and 2 more");
  assert.deepEqual(splitArguments(`--name "two words" --x='a b' -v ""`), ["--name", "two words", "--x=a b", "-v", ""]);
});

test("variables of the environment are typed as in front of a command", () => {
  assert.deepEqual(environmentOf(`SEED=1 DATA='my data' EMPTY= URL=http://x?a=b`), { SEED: "1", DATA: "my data", EMPTY: "", URL: "http://x?a=b" });
  assert.deepEqual(environmentOf("  "), {});
  assert.equal(environmentProblem(`SEED=1 _X="a b"`), undefined);
  assert.equal(environmentProblem("SEED=1 --epochs"), "--epochs is not NAME=VALUE");
  assert.equal(environmentProblem("1A=2"), "1A=2 is not NAME=VALUE");
  assert.equal(commandsText(["train.py"], "-v", "SEED=1"), "SEED=1 python train.py -v");
});

test("the expected time comes from runs that were, and says so where there were none", () => {
  assert.equal(expectedTime([12.4], "quick"), "about 12 s");
  assert.equal(expectedTime([12.4, 30], "full"), "about 4 min");
  assert.equal(expectedTime([12, null], "full"), "5 runs each");
});

test("interpreters are told by version and what they have", () => {
  assert.equal(interpreterLabel(bare), "Python 3.11.7 with TensorFlow and Keras");
  assert.equal(interpreterLabel({ ...bare, tensorflow: false, keras: false }), "Python 3.11.7");
  assert.equal(chosenLabel({ programs: [], python: bare.path, problem: null, interpreters: [bare], can_create: false }), ".venv/bin/python (Python 3.11.7 with TensorFlow and Keras)");
});

test("a screen reader says words, not icons, bars and signs", () => {
  assert.equal(spoken("$(sync~spin) ≈ 3.30 mJ · 94%"), "about 3.30 millijoules, 94 percent");
  assert.equal(spoken("████░░░░ fit, 12 × 4.00 kJ in 7.5 s"), "fit, 12 times 4.00 kilojoules in 7.5 seconds");
});

test("runs and tuning in one line", () => {
  const run = { entry: "src/train.py", started: "2026-11-18T04:05:00", text: "≈ 12.3 J", seconds: 8.06, status: "failed", commit: "a9b0093ffff" } as RunSummary;
  assert.equal(runLabel(run), "train.py · 18 Nov 04:05");
  assert.equal(runDescription(run), "≈ 12.3 J · 8.1 s · failed · a9b0093");
});

test("passes of one layer come together, the costliest first", () => {
  const part = (path: string, pass: PartSummary["pass"], joules: number): PartSummary => ({ path, pass, joules, share: joules / 10, kind: "Dense", text: `${joules} J`, layer_text: "", count: 1, file: null, line: null, uri: null });
  const layers = byLayer([part("a", "forward", 1), part("b", "forward", 3), part("a", "backward", 4), part("x", "runtime", 2)]);
  assert.deepEqual(layers.map(({ layer, share, passes }) => [layer.path, share, passes.length]), [["a", 0.5, 2], ["b", 0.3, 1], ["x", 0.2, 1]]);
});

test("heat goes by line: layers glow where they are created, constructors do not", () => {
  const call = (line: number, share: number, creates_layer: boolean): CallSummary => ({ joules: 1, share, creates_layer, range: { start: { line, character: 0 }, end: { line, character: 1 } } }) as CallSummary;
  const layers = [{ line: 3, of_all: 0.4 }] as never;
  const heat = heatByLine([{ uri: "file:///a.py", known_joules: 1, text: "", functions: [{ name: "", known_joules: 1, text: "", calls: [call(3, 0.01, true), call(9, 0.9, false)] }], layers }], ({ range }) => range.start.line);
  assert.deepEqual([...heat], [[9, 0.9], [3, 0.4]]);
});

test("the test around the cursor is named as pytest does", () => {
  const text = "import x\n\nclass TestNet:\n    def test_one(self):\n        y = 1\n        def inner():\n            pass\n\ndef test_two():\n    pass\n\nz = 3\n";
  assert.equal(testAround(text, 4), "TestNet::test_one");
  assert.equal(testAround(text, 6), "TestNet::test_one");
  assert.equal(testAround(text, 9), "test_two");
  assert.equal(testAround(text, 0), undefined);
  assert.equal(testAround("def helper():\n    pass\n", 1), undefined);
});
