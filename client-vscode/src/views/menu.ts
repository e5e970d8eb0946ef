/** The status item's menu. What helps in the server's present state stands first. */
import * as vscode from "vscode";
import type { ServerState } from "../format/figures";
import { fixesOnSave } from "../commands/fixOnSave";

type Entry = [label: string, command: string];

function remedies(state: ServerState): Entry[] {
  switch (state) {
    case "absent":
      return [["$(cloud-download) Install the server", "energyLsp.installServer"]];
    case "stopped":
      return [["$(debug-restart) Restart server", "energyLsp.restart"]];
    default:
      return [];
  }
}

function entries(state: ServerState): Entry[] {
  const open: Entry = vscode.window.activeNotebookEditor === undefined ? ["$(dashboard) Measure this file", "energyLsp.measureFile"] : ["$(dashboard) Measure this notebook", "energyLsp.measureNotebook"];
  const measuring: Entry[] = vscode.workspace.isTrusted ? [open, ["$(dashboard) Measure workspace", "energyLsp.measureWorkspace"], ["$(beaker) Tune this program", "energyLsp.tune"]] : [];
  const preparing: Entry[] = vscode.workspace.isTrusted ? [["$(symbol-namespace) Choose interpreter for measuring", "energyLsp.chooseInterpreter"], ["$(pulse) Calibrate this machine", "energyLsp.calibrate"]] : [];
  return [
    ...remedies(state),
    ...measuring,
    ["$(graph-line) Open report", "energyLsp.openReport"],
    ["$(list-tree) Show costliest calls", "energyLsp.calls.focus"],
    ["$(history) Show runs", "energyLsp.runs.focus"],
    ["$(pulse) Show meters", "energyLsp.showMeters"],
    ...preparing,
    [`$(lightbulb-autofix) ${fixesOnSave() ? "Do not apply" : "Apply"} safe fixes on save`, "energyLsp.toggleFixOnSave"],
    ["$(symbol-text) Toggle inlay hints", "energyLsp.toggleInlayHints"],
    ["$(flame) Toggle heat", "energyLsp.toggleHeat"],
    ...(state === "stopped" ? [] : [["$(debug-restart) Restart server", "energyLsp.restart"] satisfies Entry]),
    ["$(output) Show logs", "energyLsp.showLogs"],
  ];
}

export async function showMenu(state: ServerState): Promise<void> {
  const items = entries(state).map(([label, command]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Energy" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}
