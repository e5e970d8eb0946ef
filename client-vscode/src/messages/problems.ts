/** One message for a problem, with a button that mends it; not again in every window, and not again the same day. */
import * as vscode from "vscode";
import type { Notices, ProblemKind } from "./notices";

export interface Remedy {
  title: string;
  act: () => unknown;
}

export class Problems {
  constructor(
    private readonly notices: Notices,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Logs the problem always; shows it when it has not been shown lately, or when the user has just asked for something. */
  async tell(kind: ProblemKind, message: string, remedies: readonly Remedy[], askedFor = false): Promise<void> {
    const isError = kind !== "no-server"; // one that nobody has installed yet is none
    this.log[isError ? "error" : "info"](message);
    if (!(await this.notices.claim(kind, Date.now())) && !askedFor) {
      return;
    }
    const chosen = await (isError ? vscode.window.showErrorMessage : vscode.window.showInformationMessage)(message, ...remedies.map(({ title }) => title));
    await remedies.find(({ title }) => title === chosen)?.act();
  }

  /** After things work again, the next failure is news. */
  async forget(...kinds: ProblemKind[]): Promise<void> {
    await this.notices.forget(kinds);
  }
}
