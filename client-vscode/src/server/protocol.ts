/** What the server says beyond plain LSP (docs/explanation/architecture.md names the same structures). */
export type { CallSummary, FileSummary, FunctionSummary, HtmlPage, InterpreterChoice, MarkdownPage, Measured, MeasuredPart, Meters, MeterState, PartSummary, PhaseSummary, Programs, RunSummary, Status, Summary, Tuned } from "./answers";

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
