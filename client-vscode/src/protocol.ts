/** What the server says beyond plain LSP (docs/architecture.md names the same structures). */
import type { Range } from "vscode-languageclient/node";

export interface CallSummary {
  api: string;
  range: Range;
  /** Net joules of one call; null when unknown. */
  joules: number | null;
  low: number | null;
  high: number | null;
  /** How often the source says it runs. */
  runs: number;
  layer: "here" | "team" | "published" | null;
  estimated: boolean;
  /** Share of the file's known energy, 0 to 1. */
  share: number;
}

export interface FunctionSummary {
  name: string;
  calls: CallSummary[];
}

export interface FileSummary {
  uri: string;
  functions: FunctionSummary[];
}

export interface Summary {
  uri?: string | null;
  known_joules: number;
  unknown_calls: number;
  estimated: boolean;
  meter: string;
  files: FileSummary[];
}

export interface Status {
  uri: string;
  known_joules: number;
  unknown_calls: number;
  estimated: boolean;
  meter: string;
  state: "ready" | "indexing" | "measuring";
}

/** What `energy-lsp doctor` knows of a meter. */
export interface MeterState {
  name: string;
  usable: boolean;
  estimated: boolean;
  reason: string;
  /** The command that would open the meter, where there is one. */
  command: string | null;
}

export interface Meters {
  machine: { cpu: string; gpu: string };
  meters: MeterState[];
  /** Names of the meters that a measurement would use now. */
  chosen: string[];
  /** One sentence: whether a measurement here and now would be trusted. */
  verdict: string;
  advice: string[];
}

export const serverCommands = {
  measure: "energyLsp.server.measure",
  summary: "energyLsp.server.summary",
  meters: "energyLsp.server.meters",
  report: "energyLsp.server.report",
} as const;

export const statusNotification = "energyLsp/status";
