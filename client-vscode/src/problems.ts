/** One message for a problem, with a button that mends it; not again in every window, and not again the same day. */
import * as vscode from "vscode";
import { isDue } from "./patience";

export type ProblemKind = "no-server" | "wrong-path" | "no-python" | "old-python" | "install-failed" | "crashed";

export interface Remedy {
  title: string;
  act: () => unknown;
}

export class Problems {
  constructor(
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Logs the problem always; shows it when it has not been shown lately, or when the user has just asked for something. */
  async tell(kind: ProblemKind, message: string, remedies: readonly Remedy[], askedFor = false): Promise<void> {
    this.log.error(message);
    const key = `problem:${kind}`;
    if (!askedFor && !isDue(this.memory.get<number>(key), Date.now())) {
      return;
    }
    await this.memory.update(key, Date.now());
    const chosen = await vscode.window.showErrorMessage(message, ...remedies.map(({ title }) => title));
    await remedies.find(({ title }) => title === chosen)?.act();
  }

  /** After things work again, the next failure is news. */
  async forget(): Promise<void> {
    for (const key of this.memory.keys()) {
      if (key.startsWith("problem:")) {
        await this.memory.update(key, undefined);
      }
    }
  }
}
