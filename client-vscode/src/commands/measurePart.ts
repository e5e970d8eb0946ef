/** Measuring a selection, a cell or the test around the cursor: what it took is shown, nothing is stored. */
import * as vscode from "vscode";
import { testAround } from "../format/choices";
import { warnNotRunning, warnRefused } from "../messages/refusals";
import { serverCommands } from "../server/protocol";
import type { Measuring } from "./measure";
import type { MeasuredPart } from "../server/protocol";
import type { Server } from "../server/lifecycle";

interface Asked {
  uri: vscode.Uri;
  name: string;
  /** What will run, for a person to confirm. */
  runs: string;
  argument: object;
}

export async function measurePart(server: Server, measuring: Measuring, kind: "selection" | "cell" | "test"): Promise<void> {
  const asked = kind === "cell" ? await cell() : await inFile(kind);
  if (asked === undefined) {
    return;
  }
  const go = await vscode.window.showQuickPick([{ label: `$(dashboard) Measure ${asked.name}`, description: "one run, nothing is stored", detail: asked.runs }], { title: `Measure ${asked.name}` });
  if (go === undefined) {
    return;
  }
  try {
    const answer = await server.executeWithProgress<MeasuredPart>(serverCommands.measurePart, { uri: asked.uri.toString(), ...measuring.forProgram(vscode.workspace.asRelativePath(asked.uri)), ...asked.argument }, `Measuring ${asked.name}`);
    if (answer === undefined) {
      await warnNotRunning("Nothing was measured");
    } else {
      void vscode.window.showInformationMessage(answer.text);
    }
  } catch (refusal) {
    await warnRefused(refusal);
  }
}

async function inFile(kind: "selection" | "test"): Promise<Asked | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "python" || editor.document.isUntitled || editor.document.uri.scheme !== "file") {
    void vscode.window.showInformationMessage("Open and save a Python file first.");
    return undefined;
  }
  await editor.document.save();
  const { uri } = editor.document;
  const file = vscode.workspace.asRelativePath(uri);
  if (kind === "test") {
    const test = testAround(editor.document.getText(), editor.selection.active.line);
    if (test === undefined) {
      void vscode.window.showInformationMessage("Put the cursor into a test (a function whose name begins with test) first.");
      return undefined;
    }
    return { uri, name: test, runs: `Runs pytest ${file}::${test}`, argument: { test } };
  }
  const first = editor.selection.start.line;
  const last = editor.selection.end.character === 0 && editor.selection.end.line > first ? editor.selection.end.line - 1 : editor.selection.end.line;
  const name = first === last ? `line ${first + 1} of ${file}` : `lines ${first + 1} to ${last + 1} of ${file}`;
  return { uri, name, runs: `Runs a copy of ${file} from its beginning to the end of the selection`, argument: { first, last } };
}

async function cell(): Promise<Asked | undefined> {
  const editor = vscode.window.activeNotebookEditor;
  const chosen = editor?.notebook.cellAt(editor.selection.start);
  if (editor === undefined || chosen?.kind !== vscode.NotebookCellKind.Code) {
    void vscode.window.showInformationMessage("Choose a code cell of a notebook first.");
    return undefined;
  }
  await editor.notebook.save();
  const code = editor.notebook.getCells().filter(({ kind, index }) => kind === vscode.NotebookCellKind.Code && index <= chosen.index);
  const file = vscode.workspace.asRelativePath(editor.notebook.uri);
  return { uri: editor.notebook.uri, name: `cell ${code.length} of ${file}`, runs: `Runs a copy of the cells up to this one, in the notebook's folder`, argument: { cell: code.length } };
}
