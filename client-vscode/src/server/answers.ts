/** Written by tools/build_protocol_types.py from server/energy_lsp/features/answers.py: change it there. */

/** A place in a text, in the client's position encoding. */
export interface Position {
  line: number;
  character: number;
}

/** A stretch of a text. */
export interface Range {
  start: Position;
  end: Position;
}

export interface PartSummary {
  path: string;
  kind: string;
  pass: "forward" | "backward" | "optimizer" | "loss" | "input" | "runtime";
  joules: number;
  share: number;
  file: string | null;
  line: number;
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
  edited: boolean;
  text: string;
  each_text: string;
  provenance: string;
  share: number | null;
}

/** A function, or what stands outside of all of them (its name is empty). */
export interface FunctionSummary {
  name: string;
  calls: CallSummary[];
}

/** A call of the measured program. */
export interface CallPlace {
  api: string;
  file: string;
  line: number;
}

/** A line that creates layers, and what these had of a call. */
export interface LayerSummary {
  line: number;
  joules: number;
  share: number;
  of: CallPlace;
}

/** A file, or one cell of a notebook. */
export interface FileSummary {
  uri: string;
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
  text: string;
  machines: MachineTotal[];
  uri: string;
  state: "ready" | "indexing" | "measuring";
}
