import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, byFile, byHunger, callDescription, heatLevel, joules, metersPage, placeOf, provenance, remembered, statusText, totals, totalText } from "../src/format";
import type { CallSummary, Status } from "../src/protocol";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const call: CallSummary = { api: "keras.Sequential.fit", range, joules: 1.5, low: 1, high: 2, runs: 1, layer: "here", estimated: false, share: 0.5 };
const status: Status = { uri: "file:///a.py", known_joules: 1.5, unknown_calls: 2, estimated: false, meter: "rapl", state: "ready" };

test("joules come in the unit that fits", () => {
  const said = [0, 3.2e-9, 4.2e-6, 1.2e-3, 1, 999, 1500, 36000, 7.2e6].map(joules);
  assert.deepEqual(said, ["0 J", "3.20 nJ", "4.20 µJ", "1.20 mJ", "1.00 J", "999 J", "1.50 kJ", "10.0 Wh", "2000 Wh"]);
});

test("an estimate is never called a measurement", () => {
  assert.equal(provenance({ layer: "here", estimated: true }), "estimated here");
  assert.equal(provenance({ layer: "here", estimated: false }), "measured here");
  assert.equal(provenance({ layer: "published", estimated: false }), "published");
  assert.equal(statusText({ ...status, estimated: true }, "running"), "$(zap) ≈ 1.50 J");
  assert.equal(statusText(status, "running"), "$(zap) 1.50 J");
});

test("the status item tells the server's state", () => {
  assert.match(statusText(status, "starting"), /spin/);
  assert.match(statusText(status, "stopped"), /warning/);
  assert.match(statusText(undefined, "absent"), /download/);
  assert.match(statusText({ ...status, known_joules: 0 }, "running"), /no figures/);
  assert.match(statusText({ ...status, known_joules: 0, unknown_calls: 0 }, "running"), /no calls/);
  assert.match(statusText({ ...status, state: "measuring" }, "running"), /spin/);
});

test("bars and heat follow the share", () => {
  assert.equal(bar(0, 4), "░░░░");
  assert.equal(bar(0.5, 4), "██░░");
  assert.equal(bar(7, 4), "████");
  assert.deepEqual([0, 0.01, 0.05, 0.2, 0.5, 1].map(heatLevel), [0, 1, 2, 3, 4, 4]);
});

test("a call says what it cost before", () => {
  assert.equal(callDescription(call), "1.50 J · measured here");
  assert.equal(callDescription({ ...call, runs: 5 }, { ...call, joules: 3, runs: 5 }), "7.50 J (5 × 1.50 J) · measured here · before 15.0 J");
  assert.equal(callDescription(call, { ...call, joules: 2000, layer: "published" }), "1.50 J · measured here · before 2.00 kJ, published");
  assert.equal(callDescription(call, { ...call, joules: 1.2, estimated: true }), "1.50 J · measured here · before ≈ 1.20 J, estimated here");
  assert.equal(callDescription(call, call), "1.50 J · measured here");
  assert.equal(callDescription({ ...call, joules: null }), "no figure");
});

test("totals leave out what is unknown and count it", () => {
  const calls = [{ ...call, runs: 2 }, { ...call, joules: null }];
  assert.deepEqual(totals(calls), { known: 3, estimated: false, unknown: 1 });
  assert.equal(totalText(calls), "3.00 J, 1 call unknown");
  assert.equal(totalText([{ ...call, estimated: true }]), "≈ 1.50 J");
});

test("the hungriest call comes first, unknown ones last", () => {
  const sorted = [{ ...call, joules: null }, { ...call, joules: 1 }, { ...call, joules: 2 }].sort(byHunger);
  assert.deepEqual(sorted.map(({ joules: value }) => value), [2, 1, null]);
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
  const file = { uri: "file:///a.py", functions: [{ name: "", calls: [{ ...call, runs: 2 }, { ...call, api: "x", joules: null }] }] };
  const before = remembered([file]);
  assert.deepEqual([...before.values()].map(({ api, joules: value }) => [api, value]), [[call.api, 1.5]]);
  assert.equal(before.get(placeOf({ ...call, uri: file.uri }))?.runs, 2);
  const moved = { ...call, range: { start: { line: 7, character: 0 }, end: { line: 7, character: 1 } } };
  assert.equal(before.get(placeOf({ ...moved, uri: file.uri })), undefined);
});

test("the cells of a notebook come together in one file, each call with its own cell", () => {
  const cells = ["W0", "W1"].map((cell) => ({ uri: `vscode-notebook-cell://remote/n.ipynb#${cell}`, functions: [{ name: "", calls: [call] }] }));
  const [notebook, script, ...more] = byFile([...cells, { uri: "file:///n.py", functions: [{ name: "f", calls: [call, call] }] }]);
  assert.deepEqual(notebook?.functions.map(({ name, calls }) => [name, calls.map(({ uri }) => uri.at(-1))]), [["", ["0", "1"]]]);
  assert.equal(script?.functions[0]?.calls.length, 2);
  assert.deepEqual(more, []);
});
