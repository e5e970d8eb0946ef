/** Fix on save: the editor's own setting `editor.codeActionsOnSave`, written for those who do not know it. */
import * as vscode from "vscode";

const kind = "source.fixAll.energyLsp";

type OnSave = Record<string, unknown>;

function onSave(): { configuration: vscode.WorkspaceConfiguration; effective: OnSave; own: OnSave } {
  const configuration = vscode.workspace.getConfiguration("editor", { languageId: "python" });
  const asObject = (value: unknown): OnSave => (typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {});
  const found = configuration.inspect("codeActionsOnSave");
  return { configuration, effective: asObject(configuration.get("codeActionsOnSave")), own: asObject(found?.globalLanguageValue) };
}

/** Whether safe fixes are applied when a Python file is saved. */
export function fixesOnSave(): boolean {
  const wish = onSave().effective[kind];
  return wish === true || wish === "explicit" || wish === "always";
}

export async function toggleFixOnSave(): Promise<void> {
  const { configuration, own } = onSave();
  const wish = fixesOnSave() ? "never" : "explicit";
  await configuration.update("codeActionsOnSave", { ...own, [kind]: wish }, vscode.ConfigurationTarget.Global, true);
  const done = wish === "explicit" ? "Safe energy fixes are applied when a Python file is saved." : "Energy fixes are no longer applied on save.";
  void vscode.window.showInformationMessage(done);
}
