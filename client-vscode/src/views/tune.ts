/** Trying changes on copies of the program: one fix, or all that tuning knows; what is proven can be applied. */
import * as vscode from "vscode";
import { warnNotRunning, warnRefused } from "./messages";
import { tunedText } from "../format/format";
import type { Tuned } from "../format/format";
import { serverCommands } from "../server/protocol";
import type { Server } from "../server/server";

interface TextChange {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  newText: string;
}

interface Answer extends Tuned {
  edit: { changes: Record<string, TextChange[]> } | null;
  patch: string;
}

export interface TuneArgument {
  uri: string;
  rule?: string;
  line?: number;
}

/** Shows what will run, tries, and offers the proven changes. */
export async function tune(server: Server, argument: TuneArgument): Promise<void> {
  const uri = vscode.Uri.parse(argument.uri);
  const name = vscode.workspace.asRelativePath(uri);
  const what = argument.rule === undefined ? `Tune ${name}` : `Try ${argument.rule} in ${name}`;
  const go = await vscode.window.showQuickPick([{ label: `$(beaker) ${what}`, detail: `Runs python ${name} several times, on copies of the project; your files stay as they are`, description: argument.rule === undefined ? "up to 15 min" : "some runs" }], { title: what });
  if (go === undefined) {
    return;
  }
  try {
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    await document?.save();
    const told = await server.executeWithProgress<Answer>(serverCommands.tune, argument, what);
    if (told === undefined) {
      await warnNotRunning("Nothing was tried");
      return;
    }
    await offer(told, server);
  } catch (refusal) {
    await warnRefused(refusal);
  }
}

async function offer(told: Answer, server: Server): Promise<void> {
  const buttons = told.edit === null ? [] : ["Apply", "Show Patch"];
  const chosen = await vscode.window.showInformationMessage(tunedText(told), ...buttons);
  if (chosen === "Show Patch") {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "diff", content: told.patch }));
  } else if (chosen === "Apply" && told.edit !== null) {
    const edit = new vscode.WorkspaceEdit();
    for (const [uri, changes] of Object.entries(told.edit.changes)) {
      for (const { range, newText } of changes) {
        const place = server.toCode(range);
        if (place !== undefined) {
          edit.replace(vscode.Uri.parse(uri), place, newText);
        }
      }
    }
    await vscode.workspace.applyEdit(edit);
  }
}
