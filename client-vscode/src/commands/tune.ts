/** Trying changes on copies of the program: one fix, or all that tuning knows; what is proven can be applied. */
import * as vscode from "vscode";
import { fileTarget } from "./measure";
import type { Measuring } from "./measure";
import { warnNotRunning, warnRefused } from "../messages/refusals";
import { serverCommands } from "../server/protocol";
import type { Tuned } from "../server/protocol";
import type { Server } from "../server/lifecycle";

export interface TuneArgument {
  uri: string;
  rule?: string;
  line?: number;
}

/** Shows what will run, tries, and offers the proven changes. */
export async function tune(server: Server, measuring: Measuring, argument: TuneArgument): Promise<void> {
  const uri = vscode.Uri.parse(argument.uri);
  const target = fileTarget(uri);
  const what = argument.rule === undefined ? `Tune ${target.name}` : `Try ${argument.rule} in ${target.name}`;
  try {
    await vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString())?.save();
    const prepared = await measuring.prepare(target);
    if (prepared === undefined) {
      return;
    }
    const detail = `Runs ${prepared.runs}, several times on copies of the project; your files stay as they are`;
    const go = await vscode.window.showQuickPick([{ label: `$(beaker) ${what}`, detail, description: argument.rule === undefined ? "up to 15 min" : "some runs" }], { title: what });
    if (go === undefined) {
      return;
    }
    const answer = await server.executeWithProgress<Tuned>(serverCommands.tune, { ...argument, arguments: prepared.arguments, environment: prepared.environment }, what);
    if (answer === undefined) {
      await warnNotRunning("Nothing was tried");
      return;
    }
    await offer(answer, server);
  } catch (refusal) {
    await warnRefused(refusal);
  }
}

async function offer(answer: Tuned, server: Server): Promise<void> {
  const buttons = answer.edit === null ? [] : ["Apply", "Show Patch"];
  const chosen = await vscode.window.showInformationMessage(answer.text, ...buttons);
  if (chosen === "Show Patch") {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "diff", content: answer.patch }));
  } else if (chosen === "Apply" && answer.edit !== null) {
    const edit = new vscode.WorkspaceEdit();
    for (const [uri, changes] of Object.entries(answer.edit.changes)) {
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
