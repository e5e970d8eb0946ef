/** The energy view: the workspace's costliest calls as a tree, file → function → call. Calls without a figure stay folded away. */
import * as vscode from "vscode";
import { bar, byFile, byCost, callDescription, callsOf, energyOf, heatLevel, placeOf, remembered, totals, totalText } from "../format/format";
import type { FileCalls, PlacedCall } from "../format/format";
import { serverCommands } from "../server/protocol";
import type { CallSummary, Summary } from "../server/protocol";
import type { Server } from "../server/server";

type Part = FileCalls["functions"][number];
type Item = { kind: "file"; file: FileCalls } | { kind: "function"; part: Part } | { kind: "unknown"; calls: PlacedCall[] } | { kind: "call"; call: PlacedCall };

export class EnergyView implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly tree: vscode.TreeView<Item>;
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private before = new Map<string, CallSummary>();

  constructor(private readonly server: Server) {
    this.tree = vscode.window.createTreeView("energyLsp.calls", { treeDataProvider: this, showCollapseAll: true });
    this.subscriptions = [
      server.onStatus(() => {
        this.refreshSoon();
      }),
      server.onState(() => {
        this.refreshSoon();
      }),
      this.tree.onDidChangeVisibility(() => {
        this.refreshSoon();
      }),
    ];
  }

  /** Keeps today's figures, to show them beside those of the measurement that is about to start. */
  async remember(): Promise<void> {
    this.before = remembered((await this.summary())?.files ?? []);
  }

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(this.changed, this.tree, ...this.subscriptions).dispose();
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item === undefined) {
      return this.files();
    }
    switch (item.kind) {
      case "file":
        return item.file.functions
          .filter(({ calls }) => calls.length > 0)
          .sort((left, right) => totals(right.calls).known - totals(left.calls).known)
          .map((part) => ({ kind: "function", part }));
      case "function":
        return callsIn(item.part);
      case "unknown":
        return item.calls.map((call) => ({ kind: "call", call }));
      case "call":
        return [];
    }
  }

  getTreeItem(item: Item): vscode.TreeItem {
    switch (item.kind) {
      case "file":
        return fileItem(item.file);
      case "function":
        return functionItem(item.part);
      case "unknown":
        return unknownItem(item.calls);
      case "call":
        return callItem(item.call, this.server.toCode(item.call.range), this.before.get(placeOf(item.call)));
    }
  }

  private async files(): Promise<Item[]> {
    return byFile((await this.summary())?.files ?? [])
      .filter((file) => callsOf(file).length > 0)
      .sort((left, right) => totals(callsOf(right)).known - totals(callsOf(left)).known)
      .map((file) => ({ kind: "file", file }));
  }

  private summary(): Promise<Summary | undefined> {
    return this.server.execute<Summary>(serverCommands.summary);
  }

  /** Typing brings a status after every change; the tree follows once the hands rest. */
  private refreshSoon(): void {
    if (!this.tree.visible) {
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.refresh();
    }, 500);
  }
}

function fileItem(file: FileCalls): vscode.TreeItem {
  const uri = vscode.Uri.parse(file.uri);
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const known = totals(callsOf(file)).known > 0;
  const item = new vscode.TreeItem(uri, known ? Expanded : Collapsed);
  item.id = `${file.uri}#${known}`; // another row once something is known: the editor would keep the old one closed
  item.label = vscode.workspace.asRelativePath(uri);
  item.description = totalText(callsOf(file));
  item.iconPath = vscode.ThemeIcon.File;
  return item;
}

/** Known calls by cost, then one row for all that nobody has measured. */
function callsIn({ calls }: Part): Item[] {
  const known = calls.filter((call) => energyOf(call) !== undefined).sort(byCost);
  const unknown = calls.filter((call) => energyOf(call) === undefined);
  const rows: Item[] = known.map((call) => ({ kind: "call", call }));
  return unknown.length === 0 ? rows : [...rows, { kind: "unknown", calls: unknown }];
}

function functionItem(part: Part): vscode.TreeItem {
  const item = new vscode.TreeItem(part.name === "" ? "(module)" : part.name, vscode.TreeItemCollapsibleState.Expanded);
  item.description = totalText(part.calls);
  item.iconPath = new vscode.ThemeIcon("symbol-function");
  return item;
}

function unknownItem({ length }: PlacedCall[]): vscode.TreeItem {
  const item = new vscode.TreeItem(`${length} ${length === 1 ? "call" : "calls"} without a figure`, vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = new vscode.ThemeIcon("question");
  return item;
}

function callItem(call: PlacedCall, range: vscode.Range | undefined, previous: CallSummary | undefined): vscode.TreeItem {
  const known = energyOf(call) !== undefined;
  // The bar stands first, so that bars of different calls begin at the same place.
  const item = new vscode.TreeItem(known ? `${bar(call.share)} ${call.api}` : call.api);
  item.description = callDescription(call, previous);
  item.tooltip = `${call.api}: ${item.description}`;
  item.accessibilityInformation = { label: item.tooltip };
  item.iconPath = new vscode.ThemeIcon("zap", known ? new vscode.ThemeColor(`energyLsp.heat${heatLevel(call.share) || 1}`) : undefined);
  if (range !== undefined) {
    item.command = { title: "Go to call", command: "vscode.open", arguments: [vscode.Uri.parse(call.uri), { selection: range }] };
  }
  return item;
}
