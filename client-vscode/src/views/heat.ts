/** Heat: a gutter mark and an overview-ruler colour at each call and at the lines of layers, by share of the file's energy. */
import * as vscode from "vscode";
import { heatByLine, heatLevel } from "../format/figures";
import { serverCommands } from "../server/protocol";
import type { Summary } from "../server/protocol";
import type { Server } from "../server/lifecycle";

const levels = [1, 2, 3, 4] as const;

export class Heat implements vscode.Disposable {
  private readonly types: Map<number, vscode.TextEditorDecorationType>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    extensionUri: vscode.Uri,
  ) {
    this.types = new Map(levels.map((level) => [level, decoration(level, extensionUri)]));
    this.subscriptions = [
      server.onStatus(({ uri }) => {
        for (const editor of vscode.window.visibleTextEditors) {
          if (ownerOf(editor.document) === vscode.Uri.parse(uri).toString()) {
            void this.paint(editor);
          }
        }
      }),
      // Without a server all figures go; a restart brings them again with the next status.
      server.onState((state) => {
        if (state === "stopped" || state === "absent") {
          this.paintAll();
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.paintAll();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("energyLsp.heat")) {
          this.paintAll();
        }
      }),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.types.values(), ...this.subscriptions).dispose();
  }

  private paintAll(): void {
    vscode.window.visibleTextEditors.forEach((editor) => void this.paint(editor));
  }

  private async paint(editor: vscode.TextEditor): Promise<void> {
    if (editor.document.languageId !== "python") {
      return;
    }
    const wanted = vscode.workspace.getConfiguration("energyLsp", editor.document.uri).get<boolean>("heat", true);
    const version = editor.document.version;
    const summary = wanted ? await this.server.execute<Summary>(serverCommands.summary, { uri: editor.document.uri.toString() }) : undefined;
    if (editor.document.version !== version) {
      return; // typed on meanwhile: the next status brings fresh ranges
    }
    // A cell's answer holds the cells of its notebook, for the shares: the marks of the others are theirs.
    const own = (summary?.files ?? []).filter(({ uri }) => vscode.Uri.parse(uri).toString() === editor.document.uri.toString());
    const heat = heatByLine(own, (call) => this.server.toCode(call.range)?.start.line);
    for (const [level, type] of this.types) {
      const lines = [...heat].filter(([, share]) => heatLevel(share) === level).map(([line]) => line);
      editor.setDecorations(type, lines.map((line) => new vscode.Range(line, 0, line, 0)));
    }
  }
}

/** The file, or the notebook that a cell belongs to. */
function ownerOf(document: vscode.TextDocument): string {
  const notebook = vscode.workspace.notebookDocuments.find((one) => one.getCells().some((cell) => cell.document === document));
  return (notebook?.uri ?? document.uri).toString();
}

function decoration(level: number, extensionUri: vscode.Uri): vscode.TextEditorDecorationType {
  const gutter = (theme: string): vscode.ThemableDecorationRenderOptions => ({ gutterIconPath: vscode.Uri.joinPath(extensionUri, "media", `heat${level}-${theme}.svg`) });
  return vscode.window.createTextEditorDecorationType({
    light: gutter("light"),
    dark: gutter("dark"),
    gutterIconSize: "contain",
    overviewRulerColor: new vscode.ThemeColor(`energyLsp.heat${level}`),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
  });
}
