/** The report of a measured run: the page the server writes, shown in a webview. */
import * as vscode from "vscode";
import { serverCommands } from "../server/protocol";
import type { HtmlPage } from "../server/protocol";
import type { Server } from "../server/lifecycle";

export class Report implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly server: Server,
    private readonly extensionUri: vscode.Uri,
  ) {}

  /** Of a run; else of the last one of the file in front, of the workspace, of all. */
  async open(run?: string): Promise<void> {
    const front = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
    const html = await this.page(run === undefined ? { uri: front?.toString() } : { run });
    if (html === undefined) {
      return;
    }
    this.panel ??= this.create();
    // The page brings its own content-security policy, scripts and styles: nothing is loaded from anywhere.
    this.panel.webview.html = html;
    this.panel.reveal(undefined, true);
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private async page(asked: object): Promise<string | undefined> {
    try {
      return (await this.server.execute<HtmlPage>(serverCommands.report, asked))?.html;
    } catch (refusal) {
      // Nothing measured yet, or a database that cannot be read: the server's sentence says which.
      const measure = vscode.workspace.isTrusted ? ["Measure This File"] : [];
      const chosen = await vscode.window.showInformationMessage(refusal instanceof Error ? refusal.message : String(refusal), ...measure);
      if (chosen !== undefined) {
        await vscode.commands.executeCommand("energyLsp.measureFile");
      }
      return undefined;
    }
  }

  private create(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel("energyLsp.report", "Energy Report", vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [],
      retainContextWhenHidden: true,
    });
    panel.iconPath = vscode.Uri.joinPath(this.extensionUri, "media", "icon.svg");
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    return panel;
  }
}
