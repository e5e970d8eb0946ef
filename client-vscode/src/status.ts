/** One status item: energy of the open file, the meter, the server's state; a click opens the menu. */
import * as vscode from "vscode";
import { joules, statusText } from "./format";
import type { Status } from "./protocol";
import type { Server } from "./server";

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("energyLsp.status", vscode.StatusBarAlignment.Right, 100);
  private readonly known = new Map<string, Status>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.item.name = "Energy";
    this.item.command = "energyLsp.menu";
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
    vscode.Disposable.from(this.item, ...this.subscriptions).dispose();
  }

  private show(): void {
    const uri = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
    const status = uri === undefined ? undefined : this.known.get(uri.toString());
    this.item.text = statusText(status, this.server.state);
    this.item.tooltip = tooltip(status, this.server);
    this.item.show();
  }
}

function tooltip(status: Status | undefined, server: Server): string {
  const lines = [`energy-lsp: server ${server.state}`];
  if (status !== undefined) {
    lines.push(
      `known energy of this file: ${status.estimated ? "≈ " : ""}${joules(status.known_joules)}${status.estimated ? " (estimated)" : ""}`,
      `calls without a figure: ${status.unknown_calls}`,
      `meter: ${status.meter}`,
    );
  }
  return lines.join("\n");
}
