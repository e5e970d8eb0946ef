/** The energy view: the workspace's costliest calls as a tree, file → function → call. Calls without a figure stay folded away. */
import * as vscode from "vscode";
import { bar, byFile, byCost, byLayer, callDescription, callsOf, energyOf, heatLevel, percent, placeOf, remembered, runDescription, runLabel, smallestShare, spoken } from "../format/figures";
import type { FileCalls, PlacedCall } from "../format/figures";
import { serverCommands } from "../server/protocol";
import { phaseItem } from "./runs";
import type { CallSummary, PartSummary, PhaseSummary, RunSummary, Summary } from "../server/protocol";
import type { Server } from "../server/lifecycle";

type Part = FileCalls["functions"][number];
type Layer = ReturnType<typeof byLayer>[number];
type Item =
  | { kind: "run"; run: RunSummary }
  | { kind: "phase"; phase: PhaseSummary }
  | { kind: "file"; file: FileCalls }
  | { kind: "function"; part: Part }
  | { kind: "others"; calls: PlacedCall[]; what: string }
  | { kind: "call"; call: PlacedCall }
  | { kind: "layer"; layer: Layer }
  | { kind: "pass"; pass: PartSummary };

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
      return [...(await this.lastRun()), ...(await this.files())];
    }
    switch (item.kind) {
      case "run":
        return item.run.phases.map((phase) => ({ kind: "phase", phase }));
      case "file":
        return functionsIn(item.file);
      case "function":
        return callsIn(item.part);
      case "others":
        return item.calls.map((call) => ({ kind: "call", call }));
      case "call":
        return byLayer(item.call.inside).map((layer) => ({ kind: "layer", layer }));
      case "layer":
        return item.layer.passes.length > 1 ? item.layer.passes.map((pass) => ({ kind: "pass", pass })) : [];
      case "phase":
      case "pass":
        return [];
    }
  }

  getTreeItem(item: Item): vscode.TreeItem {
    switch (item.kind) {
      case "run":
        return lastRunItem(item.run);
      case "phase":
        return phaseItem(item.phase);
      case "layer":
        return layerItem(item.layer);
      case "pass":
        return partItem(item.pass.pass, item.pass.text, item.pass.share);
      case "file":
        return fileItem(item.file);
      case "function":
        return functionItem(item.part);
      case "others":
        return othersItem(item);
      case "call":
        return callItem(item.call, this.server.toCode(item.call.range), this.before.get(placeOf(item.call)));
    }
  }

  private async files(): Promise<Item[]> {
    return byFile((await this.summary())?.files ?? [])
      .filter((file) => callsOf(file).length > 0)
      .sort((left, right) => right.known_joules - left.known_joules)
      .map((file) => ({ kind: "file", file }));
  }

  /** Where the last run went, phase by phase: calls are only a part of a program. */
  private async lastRun(): Promise<Item[]> {
    const [run] = (await this.server.execute<RunSummary[]>(serverCommands.runs).catch(() => undefined)) ?? [];
    return run === undefined || run.phases.length === 0 ? [] : [{ kind: "run", run }];
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

function lastRunItem(run: RunSummary): vscode.TreeItem {
  const item = new vscode.TreeItem("Phases of the last run", vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `run ${run.id}`;
  item.description = `${runLabel(run)} · ${runDescription(run)}`;
  item.iconPath = new vscode.ThemeIcon("layers");
  item.accessibilityInformation = { label: spoken(`Phases of the last run, ${item.description}`) };
  return item;
}

/** A layer: where it is created is a click away. */
function layerItem({ layer, share, passes }: Layer): vscode.TreeItem {
  const name = layer.pass === "forward" || layer.pass === "backward" ? layer.path : layer.pass;
  const item = partItem(name, layer.layer_text, share);
  item.collapsibleState = passes.length > 1 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
  item.tooltip = `${layer.kind}: ${layer.path}\nApportioned among the operations that ran, not metered by layer.`;
  if (layer.uri !== null && layer.line !== null) {
    const place = new vscode.Range(layer.line, 0, layer.line, 0);
    item.command = { title: "Go to layer", command: "vscode.open", arguments: [vscode.Uri.parse(layer.uri), { selection: place }] };
  }
  return item;
}

function partItem(name: string, text: string, share: number): vscode.TreeItem {
  const item = new vscode.TreeItem(`${bar(share)} ${name}`);
  item.description = `${text} · ${percent(share)}`;
  item.accessibilityInformation = { label: spoken(`${name}, ${item.description}`) };
  return item;
}

function fileItem(file: FileCalls): vscode.TreeItem {
  const uri = vscode.Uri.parse(file.uri);
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const known = file.known_joules > 0;
  const item = new vscode.TreeItem(uri, known ? Expanded : Collapsed);
  item.id = `${file.uri}#${known}`; // another row once something is known: the editor would keep the old one closed
  item.label = vscode.workspace.asRelativePath(uri);
  item.description = file.text;
  item.accessibilityInformation = { label: spoken(`${item.label}, ${item.description}`) };
  item.iconPath = vscode.ThemeIcon.File;
  return item;
}

/** The costliest function first; a program without functions is its calls. */
function functionsIn(file: FileCalls): Item[] {
  const parts = file.functions.filter(({ calls }) => calls.length > 0);
  const [only, ...more] = parts;
  if (only?.name === "" && more.length === 0) {
    return callsIn(only);
  }
  return parts.sort((left, right) => right.known_joules - left.known_joules).map((part) => ({ kind: "function", part }));
}

/** Known calls by cost, then a row for all that took next to nothing and one for all that nobody has measured. */
function callsIn({ calls }: Part): Item[] {
  const known = calls.filter((call) => energyOf(call) !== undefined).sort(byCost);
  const large = known.filter(({ share }) => (share ?? 0) >= smallestShare);
  const small = known.slice(large.length);
  const unknown = calls.filter((call) => energyOf(call) === undefined);
  const folds: Item[] = [
    { kind: "others", calls: small, what: "of less than 1% each" },
    { kind: "others", calls: unknown, what: "without a figure" },
  ];
  return [...large.map((call) => ({ kind: "call" as const, call })), ...folds.filter((fold) => fold.kind === "others" && fold.calls.length > 0)];
}

function functionItem(part: Part): vscode.TreeItem {
  const name = part.name === "" ? "(module)" : part.name;
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.description = part.text;
  item.accessibilityInformation = { label: spoken(`${name}, ${item.description}`) };
  item.iconPath = new vscode.ThemeIcon("symbol-function");
  return item;
}

function othersItem({ calls, what }: { calls: PlacedCall[]; what: string }): vscode.TreeItem {
  const label = `${calls.length} ${calls.length === 1 ? "call" : "calls"} ${what}`;
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.Collapsed);
  item.accessibilityInformation = { label: spoken(label) };
  return item;
}

function callItem(call: PlacedCall, range: vscode.Range | undefined, previous: CallSummary | undefined): vscode.TreeItem {
  const known = energyOf(call) !== undefined;
  // The bar stands first, so that bars of different calls begin at the same place.
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(known ? `${bar(call.share)} ${call.api}` : call.api, call.inside.length > 0 ? Collapsed : None);
  item.description = callDescription(call, previous);
  item.tooltip = [`${call.api}: ${item.description}`, call.provenance].filter((line) => line !== "").join("\n");
  item.accessibilityInformation = { label: spoken(`${call.api}: ${item.description}`) };
  item.iconPath = new vscode.ThemeIcon("zap", known ? new vscode.ThemeColor(`energyLsp.heat${heatLevel(call.share) || 1}`) : undefined);
  if (range !== undefined) {
    item.command = { title: "Go to call", command: "vscode.open", arguments: [vscode.Uri.parse(call.uri), { selection: range }] };
  }
  return item;
}
