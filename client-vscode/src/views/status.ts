/** One status item: energy of the open file, the meter, the server's state; a click opens the menu. */
import * as vscode from "vscode";
import { spoken, statusText } from "../format/figures";
import type { Status } from "../server/protocol";
import type { Server } from "../server/lifecycle";

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("energyLsp.status", vscode.StatusBarAlignment.Right, 100);
  private readonly language = vscode.languages.createLanguageStatusItem("energyLsp.language", { language: "python" });
  private readonly known = new Map<string, Status>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.item.name = "Energy";
    this.item.command = "energyLsp.menu";
    this.language.name = "Energy";
    this.language.command = { title: "Energy menu", command: "energyLsp.menu" };
    this.subscriptions = [
      server.onState(() => {
        this.show();
      }),
      server.onStatus((status) => {
        this.known.set(vscode.Uri.parse(status.uri).toString(), status);
        this.show();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.show();
      }),
      vscode.window.onDidChangeActiveNotebookEditor(() => {
        this.show();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.known.delete(document.uri.toString());
      }),
    ];
    this.show();
  }

  dispose(): void {
    vscode.Disposable.from(this.item, this.language, ...this.subscriptions).dispose();
  }

  private show(): void {
    const status = this.statusOfFront();
    this.item.text = statusText(status, this.server.state);
    this.item.tooltip = tooltip(status, this.server);
    const said = status === undefined ? "" : `, ${status.text}`;
    const label = spoken(`Energy of this ${frontKind()}: ${this.item.text}${said}, server ${this.server.state}`);
    this.item.accessibilityInformation = { label, role: "button" };
    this.item.show();
    this.language.text = status === undefined ? this.item.text : "$(zap) Energy";
    this.language.detail = status?.text ?? `server ${this.server.state}`;
    this.language.busy = this.server.state === "starting" || status?.state === "measuring";
    this.language.accessibilityInformation = { label };
    // The measure button stands above files that have something to measure.
    const calls = status !== undefined && (status.known_joules > 0 || status.unknown_calls > 0);
    void vscode.commands.executeCommand("setContext", "energyLsp.hasCalls", calls);
    void vscode.commands.executeCommand("setContext", "energyLsp.absent", this.server.state === "absent");
    void vscode.commands.executeCommand("setContext", "energyLsp.running", this.server.state === "running");
  }

  /** Of the file in front; beside a report or a preview, of the only file that is to be seen. */
  private statusOfFront(): Status | undefined {
    const front = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
    const visible = vscode.window.visibleTextEditors.map(({ document }) => this.known.get(document.uri.toString())).filter((status) => status !== undefined);
    return front === undefined ? (visible.length === 1 ? visible[0] : undefined) : this.known.get(front.toString());
  }
}

function frontKind(): "file" | "notebook" {
  return vscode.window.activeNotebookEditor === undefined ? "file" : "notebook";
}

function tooltip(status: Status | undefined, server: Server): vscode.MarkdownString {
  const lines = [`**Energy of this ${frontKind()}** · server ${server.state}`];
  if (status !== undefined) {
    const sums = status.machines.map(({ text, machine, meter }) => `${text} · ${machine} · ${meter}`);
    lines.push(status.text, ...(sums.length > 0 ? sums : ["meter: none yet"]));
  }
  return new vscode.MarkdownString(lines.join("  \n"));
}
