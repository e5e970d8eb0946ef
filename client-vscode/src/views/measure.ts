/** Measuring, on request: the server runs it, shows cancellable progress and stores the result. */
import * as vscode from "vscode";
import type { EnergyView } from "./energyView";
import { joules } from "../format/format";
import { serverCommands } from "../server/protocol";
import type { Server } from "../server/server";

interface Measured {
  run: string;
  meter: string;
  estimated: boolean;
  joules: number | null;
  seconds: number;
}

/** What is measured, for the server and for people. */
export interface Target {
  argument: { uri: string } | { workspace: string };
  name: string;
}

export async function measure(server: Server, { argument, name }: Target, view: EnergyView): Promise<void> {
  await view.remember();
  let measured: Measured | undefined;
  try {
    measured = await server.executeWithProgress<Measured>(serverCommands.measure, argument, `Measuring ${name}`);
  } catch (refusal) {
    await warnRefused(refusal instanceof Error ? refusal.message : String(refusal));
    return;
  }
  view.refresh();
  if (measured === undefined) {
    await warnNotRunning("Nothing was measured");
    return;
  }
  const total = typeof measured.joules === "number" ? joules(measured.joules) : "below what the meter can resolve";
  const chosen = await vscode.window.showInformationMessage(
    `${measured.estimated ? "Estimated" : "Measured"} here: ${total} in ${measured.seconds.toFixed(1)} s (${measured.meter}).`,
    "Open Report",
  );
  if (chosen !== undefined) {
    await vscode.commands.executeCommand("energyLsp.openReport");
  }
}

/** The server says in one sentence what was wrong, or that it was cancelled; a sentence that names a setting leads to it. */
async function warnRefused(message: string): Promise<void> {
  const setting = /energyLsp\.\w+/.exec(message)?.[0];
  const chosen = await vscode.window.showWarningMessage(message, ...(setting === undefined ? [] : ["Open Settings"]));
  if (chosen !== undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", setting);
  }
}

/** The file in front, saved, or undefined with a word to the user. */
export async function savedTarget(): Promise<Target | undefined> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  if (notebook !== undefined) {
    await notebook.save();
    return fileTarget(notebook.uri);
  }
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "python" || document.isUntitled) {
    void vscode.window.showInformationMessage("Open and save a Python file or notebook first, then measure it.");
    return undefined;
  }
  await document.save();
  return fileTarget(document.uri);
}

function fileTarget(uri: vscode.Uri): Target {
  return { argument: { uri: uri.toString() }, name: vscode.workspace.asRelativePath(uri) };
}

/** For commands that need a running server. */
export async function warnNotRunning(consequence: string): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(`${consequence}: the energy-lsp server does not run.`, "Restart Server", "Show Logs");
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen === "Show Logs" ? "energyLsp.showLogs" : "energyLsp.restart");
  }
}
