/** Messages that lead to the next step. */
import * as vscode from "vscode";

/** For commands that need a running server. */
export async function warnNotRunning(consequence: string): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(`${consequence}: the energy-lsp server does not run.`, "Restart Server", "Show Logs");
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen === "Show Logs" ? "energyLsp.showLogs" : "energyLsp.restart");
  }
}

/** The server says in one sentence what was wrong, or that it was cancelled; a sentence that names a setting leads to it. */
export async function warnRefused(refusal: unknown): Promise<void> {
  const message = refusal instanceof Error ? refusal.message : String(refusal);
  const setting = /energyLsp\.\w+/.exec(message)?.[0];
  const missing = /TensorFlow nor Keras|does not run as Python|no interpreter/.test(message);
  const chosen = await vscode.window.showWarningMessage(message, ...(missing ? ["Choose Interpreter"] : []), ...(setting === undefined ? [] : ["Open Settings"]));
  if (chosen === "Choose Interpreter") {
    await vscode.commands.executeCommand("energyLsp.chooseInterpreter");
  } else if (chosen !== undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", setting);
  }
}
