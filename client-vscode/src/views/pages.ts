/** Pages that are no files, rendered as Markdown: meters, evidence, two runs compared, a history. Nothing to save when they are closed. */
import * as vscode from "vscode";

const scheme = "energy-lsp";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  private readonly texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async show(title: string, markdown: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `${title}.md` });
    this.texts.set(uri.path, markdown);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }

  dispose(): void {
    vscode.Disposable.from(this.registration, this.changed).dispose();
  }
}
