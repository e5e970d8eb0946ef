/** Wires the parts together; all knowledge about energy comes over LSP from the server. */
import * as vscode from "vscode";
import { EnergyView } from "./energyView";
import { metersPage } from "./format";
import { Heat } from "./heat";
import { measure, savedTarget } from "./measure";
import { PrivateEnvironment } from "./privateEnvironment";
import { Problems } from "./problems";
import { serverCommands } from "./protocol";
import type { Meters } from "./protocol";
import { onInterpreterChange } from "./pythonExtension";
import { Report } from "./report";
import { Server } from "./server";
import { StatusItem } from "./status";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("energy-lsp", { log: true });
  const running = new Server(new PrivateEnvironment(context, log), new Problems(context.globalState, log), log);
  server = running;
  const view = new EnergyView(running);
  const report = new Report(running);
  context.subscriptions.push(log, running, view, report, new StatusItem(running), new Heat(running, context.extensionUri));
  context.subscriptions.push(...commands(running, view, report, log), ...restarts(running));
  // Not awaited: the editor goes on while Python starts.
  void running.start();
  void onInterpreterChange(() => void running.start()).then((subscription) => {
    if (subscription !== undefined) {
      context.subscriptions.push(subscription);
    }
  });
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function commands(running: Server, view: EnergyView, report: Report, log: vscode.LogOutputChannel): vscode.Disposable[] {
  const measureOpen = async (): Promise<void> => {
    const target = await savedTarget();
    if (target !== undefined) {
      await measure(running, target, view);
    }
  };
  const actions: Record<string, () => unknown> = {
    menu: () => showMenu(),
    restart: () => running.restart(),
    showLogs: () => {
      log.show();
    },
    installServer: () => running.install(),
    measureFile: measureOpen,
    measureNotebook: measureOpen,
    measureWorkspace: async () => {
      const folder = await chosenFolder();
      if (folder !== undefined) {
        await measure(running, { workspace: folder.uri.toString() }, view);
      }
    },
    openReport: () => report.open(),
    showMeters: () => showMeters(running),
    refreshView: () => {
      view.refresh();
    },
    toggleInlayHints: () => toggle("inlayHints"),
    toggleHeat: () => toggle("heat"),
  };
  return Object.entries(actions).map(([name, action]) => vscode.commands.registerCommand(`energyLsp.${name}`, action));
}

function restarts(running: Server): vscode.Disposable[] {
  return [
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("energyLsp.path")) {
        void running.start(true);
      }
    }),
  ];
}

async function showMenu(): Promise<void> {
  const entries: [string, string, boolean][] = [
    ["$(dashboard) Measure this file", "energyLsp.measureFile", vscode.workspace.isTrusted],
    ["$(dashboard) Measure workspace", "energyLsp.measureWorkspace", vscode.workspace.isTrusted],
    ["$(graph-line) Open report", "energyLsp.openReport", true],
    ["$(list-tree) Show hungriest calls", "energyLsp.calls.focus", true],
    ["$(pulse) Show meters", "energyLsp.showMeters", true],
    ["$(symbol-text) Toggle inlay hints", "energyLsp.toggleInlayHints", true],
    ["$(flame) Toggle heat", "energyLsp.toggleHeat", true],
    ["$(debug-restart) Restart server", "energyLsp.restart", true],
    ["$(output) Show logs", "energyLsp.showLogs", true],
  ];
  const items = entries.filter(([, , shown]) => shown).map(([label, command]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Energy" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("Open a folder first, then measure the workspace.");
  }
  return folders.length > 1 ? vscode.window.showWorkspaceFolderPick() : folders[0];
}

async function showMeters(running: Server): Promise<void> {
  const meters = await running.execute<Meters>(serverCommands.meters);
  if (meters === undefined) {
    void vscode.window.showWarningMessage("The energy-lsp server does not run; see the logs.");
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: metersPage(meters) });
  await vscode.commands.executeCommand("markdown.showPreview", document.uri);
}

async function toggle(setting: "inlayHints" | "heat"): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("energyLsp");
  await configuration.update(setting, !configuration.get<boolean>(setting, true), vscode.ConfigurationTarget.Global);
}
