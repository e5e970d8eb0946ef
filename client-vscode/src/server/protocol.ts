/** What the server says beyond plain LSP (docs/explanation/architecture.md names the same structures). */
export type { CallSummary, FileSummary, FunctionSummary, InterpreterChoice, Measured, PartSummary, PhaseSummary, Programs, RunSummary, Status, Summary } from "./answers";

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
  refresh: "energyLsp.server.refresh",
  programs: "energyLsp.server.programs",
  measurePart: "energyLsp.server.measurePart",
  tune: "energyLsp.server.tune",
  calibrate: "energyLsp.server.calibrate",
  evidence: "energyLsp.server.evidence",
  page: "energyLsp.server.page",
  runs: "energyLsp.server.runs",
  compareRuns: "energyLsp.server.compareRuns",
  history: "energyLsp.server.history",
  deleteRun: "energyLsp.server.deleteRun",
} as const;

/** Commands of code actions and lenses that the server would answer itself in an editor without views; here the extension does. */
export const shownHere = {
  measure: "energyLsp.server.measure",
  why: "energyLsp.server.why",
  inside: "energyLsp.server.inside",
  cheaper: "energyLsp.server.cheaper",
  callHistory: "energyLsp.server.callHistory",
  showReport: "energyLsp.server.showReport",
  showTuned: "energyLsp.server.showTuned",
} as const;

export const statusNotification = "energyLsp/status";
