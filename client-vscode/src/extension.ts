/** Wires the parts together; all knowledge about energy comes over LSP from the server. */
import * as path from "node:path";
import * as vscode from "vscode";
import { EnergyView } from "./views/energy";
import { toggleFixOnSave } from "./commands/fixOnSave";
import { Heat } from "./views/heat";
import { calibrate, offerCalibration } from "./commands/calibrate";
import { Interpreters } from "./commands/interpreters";
import { fileTarget, folderTarget, Measuring, savedTarget } from "./commands/measure";
import type { Target } from "./commands/measure";
import { measurePart } from "./commands/measurePart";
import { showMenu } from "./views/menu";
import { warnRefused } from "./messages/refusals";
import { showMeters } from "./commands/meters";
import { Notices } from "./messages/notices";
import { PrivateEnvironment } from "./server/privateEnvironment";
import { Problems } from "./messages/problems";
import { onInterpreterChange } from "./server/pythonExtension";
import { Pages } from "./views/pages";
import { Report } from "./views/report";
import { RunsView } from "./views/runs";
import { serverCommands, shownHere } from "./server/protocol";
import type { MarkdownPage } from "./server/protocol";
import { Server } from "./server/lifecycle";
import { StatusItem } from "./views/status";
import { tick } from "./messages/walkthrough";
import { tune } from "./commands/tune";
import type { TuneArgument } from "./commands/tune";

let server: Server | undefined;

interface Parts {
  running: Server;
  view: EnergyView;
  runs: RunsView;
  report: Report;
  pages: Pages;
  measuring: Measuring;
  log: vscode.LogOutputChannel;
}

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("energy-lsp", { log: true });
  const running = new Server(new PrivateEnvironment(context, log), new Problems(new Notices(path.join(context.globalStorageUri.fsPath, "told")), log), log);
  server = running;
  const pages = new Pages();
  const view = new EnergyView(running);
  const runs = new RunsView(running, pages);
  const report = new Report(running, context.extensionUri);
  const measuring = new Measuring(running, view, new Interpreters(running, context.workspaceState, log), context.workspaceState);
  const parts = { running, view, runs, report, pages, measuring, log };
  context.subscriptions.push(log, running, pages, view, runs, report, new StatusItem(running), new Heat(running, context.extensionUri));
  context.subscriptions.push(...commands(parts), ...restarts(running));
  takeOver(parts);
  running.onState((state) => {
    if (state === "running") {
      void tick("install", context.globalState);
    }
  });
  measuring.onMeasured(({ status }) => {
    runs.refresh();
    void tick("measure", context.globalState);
    if (status === "finished") {
      void offerCalibration(running, measuring, context.globalState);
    }
  });
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

function commands({ running, view, runs, report, pages, measuring, log }: Parts): vscode.Disposable[] {
  const ofFront = async (act: (target: Target) => unknown): Promise<void> => {
    const target = await savedTarget();
    if (target !== undefined) {
      await act(target);
    }
  };
  const actions: Record<string, (...given: never[]) => unknown> = {
    menu: () => showMenu(running.state),
    restart: () => running.restart(),
    showLogs: () => {
      log.show();
    },
    installServer: () => running.install(),
    measureFile: () => ofFront((target) => measuring.ask(target)),
    measureNotebook: () => ofFront((target) => measuring.ask(target)),
    measureWorkspace: async () => {
      const folder = await chosenFolder();
      if (folder !== undefined) {
        await measuring.ask(folderTarget(folder));
      }
    },
    measureSelection: () => measurePart(running, measuring, "selection"),
    measureCell: () => measurePart(running, measuring, "cell"),
    measureTest: () => measurePart(running, measuring, "test"),
    chooseInterpreter: async () => {
      const folder = await chosenFolder();
      if (folder !== undefined) {
        await measuring.chooseInterpreter(folderTarget(folder));
      }
    },
    calibrate: () => calibrate(running, measuring),
    tune: () => ofFront(({ argument }) => ("uri" in argument ? tune(running, measuring, argument) : undefined)),
    openReport: (run?: unknown) => report.open(typeof run === "string" ? run : undefined),
    compareRuns: (item?: never, selected?: never) => runs.compare(item, selected),
    showHistory: (item?: never) => runs.history(item),
    deleteRun: (item?: never) => runs.delete(item),
    showMeters: () => showMeters(running, pages),
    refreshView: () => {
      view.refresh();
      runs.refresh();
    },
    toggleInlayHints: () => toggle("inlayHints"),
    toggleHeat: () => toggle("heat"),
    toggleFixOnSave: () => toggleFixOnSave(),
  };
  return Object.entries(actions).map(([name, action]) => vscode.commands.registerCommand(`energyLsp.${name}`, action));
}

/** What code actions and lenses ask for is shown with the extension's own views. */
function takeOver({ running, report, pages, measuring }: Parts): void {
  const page = async (title: string, command: string, argument: object): Promise<void> => {
    try {
      const answer = await running.execute<MarkdownPage>(command, argument);
      if (answer !== undefined) {
        await pages.show(title, answer.markdown);
      }
    } catch (refusal) {
      await warnRefused(refusal);
    }
  };
  running.takeOver(shownHere.measure, async (given) => {
    const { uri, ...further } = given as { uri: string };
    await vscode.workspace.textDocuments.find((one) => one.uri.toString() === vscode.Uri.parse(uri).toString())?.save();
    await measuring.ask(fileTarget(vscode.Uri.parse(uri)), further);
  });
  running.takeOver(shownHere.why, (given) => page(`Why ${(given as { rule: string }).rule}`, serverCommands.evidence, given as object));
  running.takeOver(shownHere.inside, (given) => page("Inside the Call", serverCommands.page, { about: "inside", ...(given as object) }));
  running.takeOver(shownHere.cheaper, (given) => page("What Could Cost Less", serverCommands.page, { about: "cheaper", ...(given as object) }));
  running.takeOver(shownHere.callHistory, (given) => page("Energy History", serverCommands.page, { about: "history", ...(given as object) }));
  running.takeOver(shownHere.showReport, () => report.open());
  running.takeOver(shownHere.showTuned, (given) => tune(running, measuring, given as TuneArgument));
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
