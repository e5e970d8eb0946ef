/** Written by tools/build_protocol_types.py from server/energy_lsp/features/answers.py: change it there. */

/** A place in a text, in the client's position encoding. */
export interface Position {
  line: number;
  character: number;
}

/** A part of a text. */
export interface Range {
  start: Position;
  end: Position;
}

export interface PartSummary {
  path: string;
  kind: string;
  pass: "forward" | "backward" | "optimizer" | "loss" | "input" | "runtime";
  joules: number;
  text: string;
  layer_text: string;
  share: number;
  count: number;
  file: string | null;
  line: number | null;
  uri: string | null;
}

/** One call. `total_joules` are of one run, `share` of what was measured; null for what is not part of that sum. */
export interface CallSummary {
  api: string;
  range: Range;
  joules: number | null;
  low: number | null;
  high: number | null;
  runs: number;
  times: number;
  times_from: "measured" | "source";
  total_joules: number | null;
  first_joules: number | null;
  origin: "site" | "signature" | "predicted" | "api" | null;
  source: "here" | "team" | "published" | null;
  layer: "here" | "team" | "published" | null;
  estimated: boolean;
  inside: PartSummary[];
  creates_layer: boolean;
  edited: boolean;
  text: string;
  each_text: string;
  known_from: string;
  provenance: string;
  share: number | null;
}

/** A function, or what stands outside of all of them (its name is empty). */
export interface FunctionSummary {
  name: string;
  known_joules: number;
  text: string;
  calls: CallSummary[];
}

/** A call of the measured program; `uri` and `row`, from 0, say where it is now, or are null. */
export interface CallPlace {
  api: string;
  file: string;
  line: number;
  uri: string | null;
  row: number | null;
}

/** What layers had of one call that uses them. */
export interface LayerUse {
  api: string;
  file: string;
  line: number;
  uri: string | null;
  row: number | null;
  joules: number;
  text: string;
  share: number;
  forward: number;
  backward: number;
}

/** A line that creates layers: what they had of all calls, `share` of the costliest, `of_all` of the whole summary. */
export interface LayerSummary {
  line: number;
  joules: number;
  text: string;
  label: string;
  share: number;
  of_all: number | null;
  of: CallPlace;
  uses: LayerUse[];
}

/** A file, or one cell of a notebook. */
export interface FileSummary {
  uri: string;
  known_joules: number;
  text: string;
  functions: FunctionSummary[];
  layers: LayerSummary[];
}

/** What the calls took that one machine measured with one meter. */
export interface MachineTotal {
  source: "here" | "team" | "published";
  machine: string;
  meter: string;
  estimated: boolean;
  joules: number;
  calls: number;
  text: string;
}

/** Sums of what was measured at the calls, those of this machine first, and how many calls are not in them. */
export interface Totals {
  known_joules: number;
  unknown_calls: number;
  elsewhere_calls: number;
  estimated: boolean;
  meter: string;
  short: string;
  text: string;
  machines: MachineTotal[];
}

/** The answer of `energyLsp.server.summary`. */
export interface Summary {
  known_joules: number;
  unknown_calls: number;
  elsewhere_calls: number;
  estimated: boolean;
  meter: string;
  short: string;
  text: string;
  machines: MachineTotal[];
  uri: string | null;
  files: FileSummary[];
}

/** The notification `energyLsp/status`. */
export interface Status {
  known_joules: number;
  unknown_calls: number;
  elsewhere_calls: number;
  estimated: boolean;
  meter: string;
  short: string;
  text: string;
  machines: MachineTotal[];
  uri: string;
  state: "ready" | "indexing" | "measuring";
}

/** A line, from 0, of the project's own code. */
export interface FailurePlace {
  uri: string;
  line: number;
}

/** The answer of `energyLsp.server.measure`. `problem` is a sentence where the program did not come to its end. */
export interface Measured {
  run: string | null;
  meter: string;
  estimated: boolean;
  joules: number | null;
  seconds: number | null;
  text: string;
  said: string;
  status: "finished" | "failed" | "partial";
  problem: string;
  place: FailurePlace | null;
  output: string;
}

/** A program that could be measured, and how long it took last time. */
export interface Program {
  file: string;
  seconds: number | null;
}

/** An interpreter that could run it. */
export interface InterpreterChoice {
  path: string;
  version: string;
  tensorflow: boolean;
  keras: boolean;
}

/** The answer of `energyLsp.server.programs`. `python` would be taken; null with `problem`, a sentence. */
export interface Programs {
  programs: Program[];
  python: string | null;
  problem: string | null;
  interpreters: InterpreterChoice[];
  can_create: boolean;
}

/** What one phase of a run took. */
export interface PhaseSummary {
  name: string;
  joules: number;
  seconds: number;
  text: string;
  share: number;
}

/** One run of those that `energyLsp.server.runs` lists, the newest first. */
export interface RunSummary {
  id: string;
  entry: string;
  project: string;
  started: string;
  seconds: number;
  joules: number | null;
  text: string;
  estimated: boolean;
  status: "finished" | "failed" | "partial";
  error: string;
  commit: string;
  machine: string;
  meter: string;
  phases: PhaseSummary[];
}

/** A change of a text. */
export interface TextChange {
  range: Range;
  newText: string;
}

/** Changes of texts, by their URIs. */
export interface ProvenEdit {
  changes: Record<string, TextChange[]>;
}

/** The answer of `energyLsp.server.tune`, beside what `energy-lsp tune --format json` prints. `text`: in a line. */
export interface Tuned {
  edit: ProvenEdit | null;
  patch: string;
  text: string;
}

/** What is known of a meter; `command` would open it, where there is one. */
export interface MeterState {
  name: string;
  usable: boolean;
  estimated: boolean;
  reason: string;
  command: string | null;
}

/** What processors are called; the GPU's is empty without one. */
export interface MachineNames {
  cpu: string;
  gpu: string;
}

/** Of `energyLsp.server.meters` what is shown: `chosen` would measure now, `verdict` says whether it would be trusted. */
export interface Meters {
  machine: MachineNames;
  meters: MeterState[];
  chosen: string[];
  verdict: string;
  advice: string[];
}

/** The answer of commands that give a page. */
export interface MarkdownPage {
  markdown: string;
}

/** The answer of `energyLsp.server.report`. */
export interface HtmlPage {
  html: string;
}

/** The answer of `energyLsp.server.measurePart`. */
export interface MeasuredPart {
  text: string;
}
