/** The runs that were measured, newest first, each opening into its phases: open a report, compare two, see the history, delete. */
import * as vscode from "vscode";
import { bar, percent, runDescription, runLabel, spoken } from "../format/figures";
import { warnRefused } from "../messages/refusals";
import type { Pages } from "./pages";
import { serverCommands } from "../server/protocol";
import type { MarkdownPage, PhaseSummary, RunSummary } from "../server/protocol";
import type { Server } from "../server/lifecycle";

type Item = { kind: "run"; run: RunSummary } | { kind: "phase"; phase: PhaseSummary };

export class RunsView implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly tree: vscode.TreeView<Item>;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly pages: Pages,
  ) {
    this.tree = vscode.window.createTreeView("energyLsp.runs", { treeDataProvider: this, canSelectMany: true });
    this.subscription = server.onState(() => {
      this.refresh();
    });
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    vscode.Disposable.from(this.tree, this.subscription, this.changed).dispose();
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item === undefined) {
      return (await this.runs()).map((run) => ({ kind: "run", run }));
    }
    return item.kind === "run" ? item.run.phases.map((phase) => ({ kind: "phase", phase })) : [];
  }

  getTreeItem(item: Item): vscode.TreeItem {
    return item.kind === "run" ? runItem(item.run) : phaseItem(item.phase);
  }

  /** The two that are selected, or this one and another that is picked. */
  async compare(item?: Item, selected: readonly Item[] = this.tree.selection): Promise<void> {
    const chosen = selected.length >= 2 ? selected : item === undefined ? [] : [item];
    const runs = chosen.filter((one) => one.kind === "run").map(({ run }) => run);
    const [first] = runs.length > 0 ? runs : [await this.pick("Run to compare")];
    const second = runs[1] ?? (first === undefined ? undefined : await this.pick(`Compare ${runLabel(first)} with`, first));
    if (first !== undefined && second !== undefined) {
      await this.page("Two Runs", serverCommands.compareRuns, { before: first.id, after: second.id });
    }
  }

  async history(item?: Item): Promise<void> {
    const run = item?.kind === "run" ? item.run : await this.pick("History of");
    if (run !== undefined) {
      await this.page("Energy History", serverCommands.history, { run: run.id });
    }
  }

  async delete(item: Item | undefined = this.tree.selection[0]): Promise<void> {
    if (item?.kind !== "run") {
      return;
    }
    const message = `Delete the run ${runLabel(item.run)} from the energy database? Its figures go with it.`;
    if ((await vscode.window.showWarningMessage(message, { modal: true }, "Delete")) === undefined) {
      return;
    }
    await this.asked(() => this.server.execute(serverCommands.deleteRun, { run: item.run.id }));
    this.refresh();
  }

  private async runs(): Promise<RunSummary[]> {
    return (await this.asked(() => this.server.execute<RunSummary[]>(serverCommands.runs))) ?? [];
  }

  private async pick(title: string, beside?: RunSummary): Promise<RunSummary | undefined> {
    const items = (await this.runs()).filter(({ id }) => id !== beside?.id).map((run) => ({ label: runLabel(run), description: runDescription(run), run }));
    return (await vscode.window.showQuickPick(items, { title }))?.run;
  }

  private async page(title: string, command: string, argument: object): Promise<void> {
    const page = await this.asked(() => this.server.execute<MarkdownPage>(command, argument));
    if (page !== undefined) {
      await this.pages.show(title, page.markdown);
    }
  }

  private async asked<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (refusal) {
      await warnRefused(refusal);
      return undefined;
    }
  }
}

function runItem(run: RunSummary): vscode.TreeItem {
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(runLabel(run), run.phases.length > 0 ? Collapsed : None);
  item.id = run.id;
  item.description = runDescription(run);
  item.contextValue = "run";
  item.iconPath = run.status === "finished" ? new vscode.ThemeIcon("zap") : new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground"));
  item.tooltip = [`${run.entry} · ${run.started}`, `${run.machine} · ${run.meter}`, run.error].filter((line) => line !== "").join("\n");
  item.accessibilityInformation = { label: spoken(`${runLabel(run)}, ${runDescription(run)}`) };
  item.command = { title: "Open report", command: "energyLsp.openReport", arguments: [run.id] };
  return item;
}

export function phaseItem(phase: PhaseSummary): vscode.TreeItem {
  const item = new vscode.TreeItem(`${bar(phase.share)} ${phase.name}`);
  item.description = `${phase.text} · ${percent(phase.share)}`;
  item.accessibilityInformation = { label: spoken(`${phase.name}, ${item.description}`) };
  return item;
}
