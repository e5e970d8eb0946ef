/** Pure functions that turn figures into words. No import of "vscode": they are unit-tested in plain Node. */
import type { CallSummary, FileSummary, Measured, Meters, PartSummary, RunSummary, Status, Summary } from "../server/protocol";

const units: readonly [number, string, number][] = [
  [1e3, "kJ", 1e3],
  [1, "J", 1],
  [1e-3, "mJ", 1e-3],
  [0, "µJ", 1e-6],
];

/** As the server writes it (test/units.json): three significant digits in the unit that fits, 0.9997 → "1.00 J". */
export function joules(value: number): string {
  if (value === 0) {
    return "0 J";
  }
  const size = Math.abs(Number(value.toPrecision(3)));
  const [, unit, factor] = units.find(([least]) => size >= least) ?? [0, "µJ", 1e-6];
  const rounded = Number((value / factor).toPrecision(3));
  const places = 2 - Math.floor(Math.log10(Math.abs(rounded)));
  return `${rounded.toFixed(Math.max(0, Math.min(places, 6)))} ${unit}`;
}

/** Where a figure comes from, in two words at most. */
export function provenance(call: Pick<CallSummary, "source" | "estimated">): string {
  switch (call.source) {
    case "here":
      return call.estimated ? "estimated here" : "measured here";
    case "team":
      return call.estimated ? "estimated by team" : "measured by team";
    case "published":
      return "published";
    case null:
      return "unknown";
  }
}

/** A bar of block characters for a share between 0 and 1; empty for what has none. */
export function bar(share: number | null, width = 8): string {
  const filled = Math.round(Math.min(1, Math.max(0, share ?? 0)) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}

/** The step of the heat scale for a share of the file's energy: 0 is none, 4 the hottest. */
export function heatLevel(share: number | null): 0 | 1 | 2 | 3 | 4 {
  if (share === null) {
    return 0;
  }
  if (share >= 0.5) {
    return 4;
  }
  if (share >= 0.2) {
    return 3;
  }
  if (share >= 0.05) {
    return 2;
  }
  return share > 0 ? 1 : 0;
}

/** Shares of the energy by line: of a call its first line, of a layer the line that creates it; of several the largest. */
export function heatByLine(files: readonly FileSummary[], lineOf: (call: CallSummary) => number | undefined): Map<number, number> {
  const heat = new Map<number, number>();
  const add = (line: number, share: number): void => {
    heat.set(line, Math.max(heat.get(line) ?? 0, share));
  };
  for (const file of files) {
    for (const call of callsOf(file)) {
      const line = lineOf(call);
      if (call.joules !== null && call.share !== null && line !== undefined && !call.creates_layer) {
        add(line, call.share);
      }
    }
    for (const { line, of_all: share } of file.layers) {
      if (share !== null) {
        add(line, share);
      }
    }
  }
  return heat;
}

/** The text of the status item. */
export function statusText(status: Status | undefined, state: ServerState): string {
  switch (state) {
    case "starting":
      return "$(sync~spin) Energy";
    case "stopped":
      return "$(warning) Energy";
    case "absent":
      return "$(cloud-download) Energy";
    case "running":
      break;
  }
  if (status === undefined) {
    return "$(zap) Energy";
  }
  const icon = status.state === "ready" ? "$(zap)" : "$(sync~spin)";
  if (status.known_joules === 0) {
    return `${icon} ${status.unknown_calls > 0 ? "no figures" : "no calls"}`;
  }
  return `${icon} ${marked(status.known_joules, status)}`;
}

const units_spoken: readonly [RegExp, string][] = [
  [/\$\([\w~-]+\)\s*/g, ""],
  [/\*\*/g, ""],
  [/[█░]+\s*/g, ""],
  [/≈ ?/g, "about "],
  [/<1%/g, "less than 1 percent"],
  [/(\d)%/g, "$1 percent"],
  [/(\d) µJ\b/g, "$1 microjoules"],
  [/(\d) mJ\b/g, "$1 millijoules"],
  [/(\d) kJ\b/g, "$1 kilojoules"],
  [/(\d) J\b/g, "$1 joules"],
  [/(\d) Wh\b/g, "$1 watt-hours"],
  [/ × /g, " times "],
  [/ [·|] /g, ", "],
];

/** A text as a screen reader should say it: without icons, bars and asterisks, with units in words. */
export function spoken(text: string): string {
  return units_spoken.reduce((said, [sign, word]) => said.replace(sign, word), text).trim();
}

/** What is said at the end of a measurement: the whole run, and of it what the status item shows for the file. */
export function measuredText(measured: Measured, file: Summary | undefined): string {
  const total = measured.joules === null ? "below what the meter can resolve" : `${marked(measured.joules, measured)} for the whole run`;
  const time = measured.seconds === null ? "" : ` in ${measured.seconds.toFixed(1)} s`;
  const part = file === undefined || file.known_joules === 0 ? "" : `, ${marked(file.known_joules, file)} of it in the calls of this file`;
  return `${measured.estimated ? "Estimated" : "Measured"} here: ${total}${time} (${measured.meter})${part}.`;
}

/** "train.py · 18 Nov 04:05". */
export function runLabel({ entry, started }: RunSummary): string {
  const day = new Date(started);
  const short = entry.split(/[\\/]/).pop() ?? entry;
  return Number.isNaN(day.getTime()) ? short : `${short} · ${day.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${day.toTimeString().slice(0, 5)}`;
}

/** "≈ 12.3 J · 8.1 s · failed · a9b0093". */
export function runDescription({ joules: total, estimated, seconds, status, commit }: RunSummary): string {
  const parts = [total === null ? "no figures" : marked(total, { estimated }), `${seconds.toFixed(1)} s`, status === "finished" ? "" : status, commit.slice(0, 7)];
  return parts.filter((part) => part !== "").join(" · ");
}

/** The parts of a call by layer: passes of one layer come together, the costliest first. */
export function byLayer(parts: readonly PartSummary[]): { layer: PartSummary; joules: number; share: number; passes: PartSummary[] }[] {
  const found = new Map<string, PartSummary[]>();
  for (const part of parts) {
    const key = part.pass === "forward" || part.pass === "backward" ? part.path : part.pass;
    found.set(key, [...(found.get(key) ?? []), part]);
  }
  const sum = (passes: readonly PartSummary[], of: (part: PartSummary) => number): number => passes.reduce((all, part) => all + of(part), 0);
  const layers = [...found.values()].flatMap((passes) => (passes[0] === undefined ? [] : [{ layer: passes[0], joules: sum(passes, (part) => part.joules), share: sum(passes, (part) => part.share), passes }]));
  return layers.sort((left, right) => right.joules - left.joules);
}

export type ServerState = "starting" | "running" | "stopped" | "absent";

/** Joules of all calls of one run, as measured at this call; undefined for what is not part of the sum. */
export function energyOf({ total_joules: total, share }: CallSummary): number | undefined {
  return total === null || share === null ? undefined : total;
}

/** What the energy view says right of a call's name: energy, where it comes from, what was known before. */
export function callDescription(call: CallSummary, previous?: CallSummary): string {
  if (call.text === "") {
    return "no figure";
  }
  const each = call.times > 1 ? ` (${call.times} × ${call.each_text})` : "";
  return `${call.text}${each} · ${provenance(call)}${before(call, previous)}`;
}

/** The figure from before a measurement; where it came from, if from elsewhere. */
function before(call: CallSummary, previous?: CallSummary): string {
  if (previous === undefined || previous.text === "" || previous.text === call.text) {
    return "";
  }
  const origin = provenance(previous) === provenance(call) ? "" : `, ${provenance(previous)}`;
  return ` · before ${previous.text}${origin}`;
}

/** Joules that say when they are an estimate. */
function marked(value: number, { estimated }: Pick<CallSummary, "estimated">): string {
  return `${estimated ? "≈ " : ""}${joules(value)}`;
}

/** Known joules of some calls, whether an estimate is among them, and how many calls have no figure. */
export function totals(calls: readonly CallSummary[]): { known: number; estimated: boolean; unknown: number } {
  const energies = calls.map(energyOf);
  const known = energies.filter((energy) => energy !== undefined);
  return {
    known: known.reduce((sum, energy) => sum + energy, 0),
    estimated: calls.some((call) => energyOf(call) !== undefined && call.estimated),
    unknown: energies.length - known.length,
  };
}

/** The sum of some calls in words: "≈ 1.20 J, 3 calls unknown". */
export function totalText(calls: readonly CallSummary[]): string {
  const { known, estimated, unknown } = totals(calls);
  if (known === 0 && unknown > 0) {
    return "no figures yet";
  }
  const gap = unknown === 0 ? "" : `, ${unknown} ${unknown === 1 ? "call" : "calls"} unknown`;
  return `${marked(known, { estimated })}${gap}`;
}

/** A call with the text that it stands in: a file, or one cell of a notebook. */
export interface PlacedCall extends CallSummary {
  uri: string;
}

export interface FileCalls {
  /** Of the file, or of a cell of the notebook. */
  uri: string;
  functions: { name: string; calls: PlacedCall[] }[];
}

/** The summary by files on disk: the cells of a notebook, each with a URI of its own, come together. */
export function byFile(files: readonly FileSummary[]): FileCalls[] {
  const found = new Map<string, { uri: string; functions: Map<string, PlacedCall[]> }>();
  for (const { uri, functions } of files) {
    const path = uri.replace(/^[^:]+:(\/\/[^/]*)?/, "").replace(/#.*$/, "");
    const file = found.get(path) ?? { uri, functions: new Map<string, PlacedCall[]>() };
    found.set(path, file);
    for (const { name, calls } of functions) {
      file.functions.set(name, [...(file.functions.get(name) ?? []), ...calls.map((call) => ({ ...call, uri }))]);
    }
  }
  return [...found.values()].map(({ uri, functions }) => ({ uri, functions: [...functions].map(([name, calls]) => ({ name, calls })) }));
}

/** Known calls by place and API, to set beside those after the next measurement; places move with edits, and are then forgotten. */
export function remembered(files: readonly FileSummary[]): Map<string, CallSummary> {
  const known = byFile(files).flatMap(callsOf).filter((call) => energyOf(call) !== undefined);
  return new Map(known.map((call) => [placeOf(call), call]));
}

export function placeOf({ uri, api, range }: PlacedCall): string {
  return [uri, range.start.line, range.start.character, api].join(" ");
}

/** All calls of a file. */
export function callsOf<Call extends CallSummary>(file: { functions: readonly { calls: readonly Call[] }[] }): Call[] {
  return file.functions.flatMap(({ calls }) => calls);
}

/** Costliest first; calls without a figure last, in the order of the file. */
export function byCost(left: CallSummary, right: CallSummary): number {
  return (energyOf(right) ?? -1) - (energyOf(left) ?? -1);
}

/** The meters of this machine as a Markdown page; what the machine says of itself stays plain text. */
export function metersPage({ machine, meters, chosen, verdict, advice }: Meters): string {
  const rows = meters.map(({ name, usable, estimated, reason, command }) => {
    const state = usable ? (estimated ? "usable, an estimate" : "usable") : "not usable";
    const opens = command === null ? "" : `<br>opened by ${code(command)}`;
    return `| ${plain(name)}${chosen.includes(name) ? " **(in use)**" : ""} | ${state} | ${plain(reason)}${opens} |`;
  });
  const advised = advice.map((line) => `- ${plain(line)}`);
  const title = [machine.cpu, machine.gpu].filter(Boolean).join(" + ");
  return [`# Energy meters of ${plain(title)}`, "", plain(verdict), "", ...advised, "", "| meter | state | |", "|---|---|---|", ...rows, ""].join("\n");
}

function plain(text: string): string {
  return text.replaceAll("\n", " ").replace(/[\\`*_{}[\]()#+!|<>&~-]/g, "\\$&");
}

function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("\n", " ").replaceAll("|", "\\|")}\``;
}
