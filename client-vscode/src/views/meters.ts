/** The meters of this machine, as a page that is no file: nothing to save when it is closed. */
import * as vscode from "vscode";
import { metersPage } from "../format/format";
import { warnNotRunning } from "./measure";
import { serverCommands } from "../server/protocol";
import type { Meters } from "../server/protocol";
import type { Server } from "../server/server";

const page = vscode.Uri.parse("energy-lsp:Energy%20Meters.md");

export class MetersPage implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(page.scheme, this);
  private text = "";

  constructor(private readonly server: Server) {}

  provideTextDocumentContent(): string {
    return this.text;
  }

  async show(): Promise<void> {
    const meters = await this.server.execute<Meters>(serverCommands.meters);
    if (meters === undefined) {
      await warnNotRunning("There are no meters to show");
      return;
    }
    this.text = metersPage(meters);
    this.changed.fire(page);
    await vscode.commands.executeCommand("markdown.showPreview", page);
  }

  dispose(): void {
    vscode.Disposable.from(this.registration, this.changed).dispose();
  }
}
