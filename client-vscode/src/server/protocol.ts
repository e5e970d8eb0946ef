/** What the server says beyond plain LSP (docs/explanation/architecture.md names the same structures). */
export type { CallSummary, FileSummary, FunctionSummary, Status, Summary } from "./answers";

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
