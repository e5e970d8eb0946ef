/** Wires the parts together; all knowledge about energy comes over LSP from the server. */
import * as path from "node:path";
import * as vscode from "vscode";
import { EnergyView } from "./views/energyView";
import { toggleFixOnSave } from "./views/fixOnSave";
import { Heat } from "./views/heat";
import { measure, savedTarget } from "./views/measure";
import { showMenu } from "./views/menu";
import { MetersPage } from "./views/meters";
import { Notices } from "./views/notices";
import { PrivateEnvironment } from "./server/privateEnvironment";
import { Problems } from "./views/problems";
import { onInterpreterChange } from "./server/pythonExtension";
import { Report } from "./views/report";
import { Server } from "./server/server";
import { StatusItem } from "./views/status";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("energy-lsp", { log: true });
  const running = new Server(new PrivateEnvironment(context, log), new Problems(new Notices(path.join(context.globalStorageUri.fsPath, "told")), log), log);
  server = running;
  const view = new EnergyView(running);
  const report = new Report(running, context.extensionUri);
  const meters = new MetersPage(running);
  context.subscriptions.push(log, running, view, report, meters, new StatusItem(running), new Heat(running, context.extensionUri));
  context.subscriptions.push(...commands(running, view, report, meters, log), ...restarts(running));
  // Not awaited: the editor goes on while Python starts.
  void running.start();
  void onInterpreterChange(() => void running.reconsider()).then((subscription) => {
    if (subscription !== undefined) {
      context.subscriptions.push(subscription);
    }
  });
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function commands(running: Server, view: EnergyView, report: Report, meters: MetersPage, log: vscode.LogOutputChannel): vscode.Disposable[] {
  const measureOpen = async (): Promise<void> => {
    const target = await savedTarget();
    if (target !== undefined) {
      await measure(running, target, view);
    }
  };
  const actions: Record<string, () => unknown> = {
    menu: () => showMenu(running.state),
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
        await measure(running, { argument: { workspace: folder.uri.toString() }, name: folder.name }, view);
      }
    },
    openReport: () => report.open(),
    showMeters: () => meters.show(),
    refreshView: () => {
      view.refresh();
    },
    toggleInlayHints: () => toggle("inlayHints"),
    toggleHeat: () => toggle("heat"),
    toggleFixOnSave: () => toggleFixOnSave(),
  };
  return Object.entries(actions).map(([name, action]) => vscode.commands.registerCommand(`energyLsp.${name}`, action));
}

function restarts(running: Server): vscode.Disposable[] {
  return [
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("energyLsp.path")) {
        // The window where the setting was changed answers for all.
        void running.start(vscode.window.state.focused);
      }
    }),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused && running.state === "absent") {
        void running.reconsider(); // the server, or a Python, may have been installed meanwhile
      }
    }),
  ];
}

async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("Open a folder first, then measure the workspace.");
  }
  return folders.length > 1 ? vscode.window.showWorkspaceFolderPick() : folders[0];
}

async function toggle(setting: "inlayHints" | "heat"): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("energyLsp");
  await configuration.update(setting, !configuration.get<boolean>(setting, true), vscode.ConfigurationTarget.Global);
}
