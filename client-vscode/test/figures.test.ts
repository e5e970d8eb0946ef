import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, byFile, byCost, callDescription, heatLevel, metersPage, percent, placeOf, remembered, statusText } from "../src/format/figures";
import type { CallSummary, Status } from "../src/server/protocol";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const call: CallSummary = {
  ...{ api: "keras.Sequential.fit", range, joules: 1.5, low: 1, high: 2, runs: 1, times: 1, times_from: "measured", total_joules: 1.5, first_joules: null },
  ...{ origin: "site", source: "here", layer: "here", estimated: false, inside: [],
  creates_layer: false, edited: false, text: "1.50 J", each_text: "1.50 J", known_from: "measured here", provenance: "", share: 0.5 },
};
const unknown: CallSummary = { ...call, joules: null, total_joules: null, text: "", each_text: "", share: null, origin: null, source: null, layer: null, known_from: "" };
const sum = { known_joules: 3, text: "3.00 J in 2 calls" };
const status: Status = {
  ...{ uri: "file:///a.py", known_joules: 1.5, unknown_calls: 2, elsewhere_calls: 0, estimated: false, meter: "rapl", state: "ready" },
  ...{ short: "1.50 J", text: "at least 1.50 J in 1 call, 2 unknown", machines: [] },
};

test("the number of the status item is the server's", () => {
  assert.equal(statusText({ ...status, short: "≈ 1.50 J" }, "running"), "$(zap) ≈ 1.50 J");
  assert.equal(statusText({ ...status, short: "no figures" }, "running"), "$(zap) no figures");
});

test("the status item tells the server's state", () => {
  assert.match(statusText(status, "starting"), /spin/);
  assert.match(statusText(status, "stopped"), /warning/);
  assert.match(statusText(undefined, "absent"), /download/);
  assert.match(statusText({ ...status, state: "measuring" }, "running"), /spin/);
});

test("bars and heat follow the share", () => {
  assert.equal(bar(0, 4), "░░░░");
  assert.equal(bar(0.5, 4), "██░░");
  assert.equal(bar(7, 4), "████");
  assert.deepEqual([0, 0.009, 0.01, 0.05, 0.2, 0.5, 1].map(heatLevel), [0, 0, 1, 2, 3, 4, 4]);
});

test("a call says its share and what it cost before; where it was measured only if not here", () => {
  assert.equal(callDescription(call), "1.50 J · 50% of all");
  assert.equal(callDescription({ ...call, source: "team", known_from: "measured by the team" }), "1.50 J · 50% of all · measured by the team");
  assert.equal(callDescription({ ...call, origin: "predicted", known_from: "predicted", share: null }), "1.50 J · predicted");
  const five = { ...call, times: 5, total_joules: 7.5, text: "7.50 J", share: 0.001 };
  assert.equal(callDescription(five, { ...five, text: "15.0 J" }), "7.50 J · <1% of all (5 × 1.50 J) · before 15.0 J");
  assert.equal(callDescription(call, { ...call, text: "≈ 1.20 J", known_from: "estimated here" }), "1.50 J · 50% of all · before ≈ 1.20 J, estimated here");
  assert.equal(callDescription(call, call), "1.50 J · 50% of all");
  assert.equal(callDescription(unknown), "no figure");
  assert.deepEqual([0, 0.004, 0.0101, 0.994, 1].map(percent), ["0%", "<1%", "1%", "99%", "100%"]);
});

test("the costliest call comes first, unknown ones last", () => {
  const sorted = [unknown, { ...call, total_joules: 1 }, { ...call, total_joules: 2 }].sort(byCost);
  assert.deepEqual(sorted.map(({ total_joules: value }) => value), [2, 1, null]);
});

test("what is no part of the sum has no heat", () => {
  assert.equal(heatLevel(null), 0);
  assert.equal(bar(null, 2), "░░");
});

test("meters say why they are closed and what opens them, as plain text", () => {
  const rapl = { name: "rapl", usable: false, estimated: false, reason: "only root may read `energy_uj`", command: "sudo udevadm trigger" };
  const meters = [rapl, { ...rapl, name: "cpu-time", usable: true, estimated: true, command: null }];
  const page = metersPage({ machine: { cpu: "Xeon", gpu: "" }, meters, chosen: ["cpu-time"], verdict: "Not <b>trusted</b>.", advice: ["stop *others*"] });
  assert.match(page, /# Energy meters of Xeon\n/);
  assert.ok(page.includes("| rapl | not usable | only root may read \\`energy\\_uj\\`<br>opened by `sudo udevadm trigger` |"));
  assert.ok(page.includes("| cpu\\-time **(in use)** | usable, an estimate |"));
  assert.ok(page.includes("Not \\<b\\>trusted\\</b\\>.") && page.includes("- stop \\*others\\*"));
});

test("figures are remembered by place, so that a moved call has no value before", () => {
  const file = { uri: "file:///a.py", ...sum, layers: [], functions: [{ name: "", ...sum, calls: [{ ...call, runs: 2 }, { ...unknown, api: "x" }] }] };
  const before = remembered([file]);
  assert.deepEqual([...before.values()].map(({ api, joules: value }) => [api, value]), [[call.api, 1.5]]);
  assert.equal(before.get(placeOf({ ...call, uri: file.uri }))?.runs, 2);
  const moved = { ...call, range: { start: { line: 7, character: 0 }, end: { line: 7, character: 1 } } };
  assert.equal(before.get(placeOf({ ...moved, uri: file.uri })), undefined);
});

test("the cells of a notebook come together in one file, each call with its own cell", () => {
  const cells = ["W0", "W1"].map((cell) => ({ uri: `vscode-notebook-cell://remote/n.ipynb#${cell}`, ...sum, layers: [], functions: [{ name: "", ...sum, calls: [call] }] }));
  const [notebook, script, ...more] = byFile([...cells, { uri: "file:///n.py", ...sum, layers: [], functions: [{ name: "f", ...sum, calls: [call, call] }] }]);
  assert.deepEqual(notebook?.functions.map(({ name, calls }) => [name, calls.map(({ uri }) => uri.at(-1))]), [["", ["0", "1"]]]);
  assert.deepEqual(notebook.functions.map(({ text }) => text), [sum.text], "the sums are the server's, of all cells");
  assert.equal(script?.functions[0]?.calls.length, 2);
  assert.deepEqual(more, []);
});
