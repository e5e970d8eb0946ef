/** The report of a measured run: the page the server writes, shown in a webview. */
import * as vscode from "vscode";
import { serverCommands } from "./protocol";
import type { Server } from "./server";

export class Report implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(private readonly server: Server) {}

  async open(): Promise<void> {
    const page = await this.server.execute<{ html: string | null }>(serverCommands.report);
    if (typeof page?.html !== "string") {
      const measure = vscode.workspace.isTrusted ? ["Measure This File"] : [];
      const chosen = await vscode.window.showInformationMessage("There is no measured run on this machine yet.", ...measure);
      if (chosen !== undefined) {
        await vscode.commands.executeCommand("energyLsp.measureFile");
      }
      return;
    }
    this.panel ??= this.create();
    // The page brings its own content-security policy, scripts and styles: nothing is loaded from anywhere.
    this.panel.webview.html = page.html;
    this.panel.reveal(undefined, true);
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private create(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel("energyLsp.report", "Energy Report", vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [],
      retainContextWhenHidden: true,
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    return panel;
  }
}
