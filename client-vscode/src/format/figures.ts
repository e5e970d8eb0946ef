/** Pure functions that turn figures into words. No import of "vscode": they are unit-tested in plain Node. */
import type { CallSummary, FileSummary, Meters, PartSummary, RunSummary, Status } from "../server/protocol";

/** A bar of block characters for a share between 0 and 1; empty for what has none. */
export function bar(share: number | null, width = 8): string {
  const filled = Math.round(Math.min(1, Math.max(0, share ?? 0)) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}

/** Calls below this share of the energy are not where to look: no mark, and one row for all of them. */
export const smallestShare = 0.01;

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
  return share >= smallestShare ? 1 : 0;
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
  return `${icon} ${status.short}`;
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
  [/(\d) s\b/g, "$1 seconds"],
  [/ × /g, " times "],
  [/ [·|] /g, ", "],
];

/** A text as a screen reader should say it: without icons, bars and asterisks, with units in words. */
export function spoken(text: string): string {
  return units_spoken.reduce((said, [sign, word]) => said.replace(sign, word), text).trim();
}

/** "train.py · 18 Nov 04:05". */
export function runLabel({ entry, started }: RunSummary): string {
  const day = new Date(started);
  const short = entry.split(/[\\/]/).pop() ?? entry;
  return Number.isNaN(day.getTime()) ? short : `${short} · ${day.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${day.toTimeString().slice(0, 5)}`;
}

/** "≈ 12.3 J · 8.1 s · failed · a9b0093". */
export function runDescription({ text, seconds, status, commit }: RunSummary): string {
  const parts = [text === "" ? "no figures" : text, `${seconds.toFixed(1)} s`, status === "finished" ? "" : status, commit.slice(0, 7)];
  return parts.filter((part) => part !== "").join(" · ");
}

/** The parts of a call by layer: passes of one layer come together, the costliest first. */
export function byLayer(parts: readonly PartSummary[]): { layer: PartSummary; share: number; passes: PartSummary[] }[] {
  const found = new Map<string, PartSummary[]>();
  for (const part of parts) {
    const key = part.pass === "forward" || part.pass === "backward" ? part.path : part.pass;
    found.set(key, [...(found.get(key) ?? []), part]);
  }
  const sum = (passes: readonly PartSummary[], of: (part: PartSummary) => number): number => passes.reduce((all, part) => all + of(part), 0);
  const layers = [...found.values()].flatMap((passes) => (passes[0] === undefined ? [] : [{ layer: passes[0], share: sum(passes, (part) => part.share), passes }]));
  return layers.sort((left, right) => right.share - left.share);
}

export type ServerState = "starting" | "running" | "stopped" | "absent";

/** Joules of all calls of one run, as measured at this call; undefined for what is not part of the sum. */
export function energyOf({ total_joules: total, share }: CallSummary): number | undefined {
  return total === null || share === null ? undefined : total;
}

/** What the energy view says right of a call's name: energy, its share, where it comes from if not from here, what was known before. */
export function callDescription(call: CallSummary, previous?: CallSummary): string {
  if (call.text === "") {
    return "no figure";
  }
  const each = call.times > 1 ? ` (${call.times} × ${call.each_text})` : "";
  // Of all files: behind the call itself stands its share of its own file.
  const share = call.share === null ? "" : ` · ${percent(call.share)} of all`;
  const origin = call.source === "here" && call.origin === "site" ? "" : ` · ${call.known_from}`;
  return `${call.text}${share}${each}${origin}${before(call, previous)}`;
}

/** The figure from before a measurement; where it came from, if from elsewhere. */
function before(call: CallSummary, previous?: CallSummary): string {
  if (previous === undefined || previous.text === "" || previous.text === call.text) {
    return "";
  }
  const origin = previous.known_from === call.known_from ? "" : `, ${previous.known_from}`;
  return ` · before ${previous.text}${origin}`;
}

/** "94%", and "<1%" for what is there but small. */
export function percent(share: number): string {
  return share > 0 && share < 0.01 ? "<1%" : `${Math.round(share * 100)}%`;
}

/** A call with the text that it stands in: a file, or one cell of a notebook. */
export interface PlacedCall extends CallSummary {
  uri: string;
}

export interface FileCalls {
  /** Of the file, or of a cell of the notebook. */
  uri: string;
  /** The energy of all its calls, in words and as a number. */
  text: string;
  known_joules: number;
  functions: FunctionCalls[];
}

export interface FunctionCalls {
  name: string;
  text: string;
  known_joules: number;
  calls: PlacedCall[];
}

/** The summary by files on disk: the cells of a notebook, each with a URI of its own, come together. */
export function byFile(files: readonly FileSummary[]): FileCalls[] {
  const found = new Map<string, FileCalls>();
  for (const { uri, functions, ...sum } of files) {
    const path = uri.replace(/^[^:]+:(\/\/[^/]*)?/, "").replace(/#.*$/, "");
    const file = found.get(path) ?? { uri, functions: [], text: sum.text, known_joules: sum.known_joules };
    found.set(path, file);
    for (const { name, calls, text, known_joules } of functions) {
      const placed = calls.map((call) => ({ ...call, uri }));
      const same = file.functions.find((one) => one.name === name);
      if (same === undefined) {
        file.functions.push({ name, text, known_joules, calls: placed });
      } else {
        same.calls.push(...placed);
      }
    }
  }
  return [...found.values()];
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
