/** Which interpreter runs the programs that are measured: those with TensorFlow or Keras, or a new environment. Remembered for the workspace. */
import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { interpreterLabel } from "../format/choices";
import type { InterpreterChoice, Programs } from "../server/protocol";
import { InstallFailed, interpreterOf, runLogged } from "../server/logged";
import type { Server } from "../server/lifecycle";

const remembered = "measuringPython";

interface Entry extends vscode.QuickPickItem {
  act?: () => Thenable<string | undefined>;
}

export class Interpreters {
  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {
    void server.measureWith(this.chosen);
  }

  get chosen(): string | undefined {
    return this.memory.get<string>(remembered);
  }

  /** Asks; resolves with the interpreter, or undefined when nothing was chosen. */
  async choose(programs: Programs, folder: string): Promise<string | undefined> {
    const able = programs.interpreters.filter(({ tensorflow, keras }) => tensorflow || keras);
    const entries: Entry[] = able.map((one) => ({
      label: `$(symbol-namespace) ${interpreterLabel(one)}`,
      description: one.path === programs.python ? "in use" : "",
      detail: one.path,
      act: () => Promise.resolve(one.path),
    }));
    entries.push(
      { label: "", kind: vscode.QuickPickItemKind.Separator },
      {
        label: "$(add) Create an environment",
        detail: `Makes ${path.join(folder, ".venv")} and installs ${requirements(folder) === undefined ? "TensorFlow" : "requirements.txt"}; takes some minutes`,
        act: () => this.create(programs.interpreters, folder),
      },
      { label: "$(folder-opened) Browse…", detail: "Name another Python", act: browse },
    );
    const title = able.length === 0 ? "No interpreter with TensorFlow or Keras was found here" : "Interpreter that runs what is measured";
    const picked = await vscode.window.showQuickPick(entries, { title, placeHolder: programs.problem ?? "Those with TensorFlow or Keras; remembered for this workspace", matchOnDetail: true });
    const python = await picked?.act?.();
    if (python !== undefined) {
      await this.memory.update(remembered, python);
      await this.server.measureWith(python);
    }
    return python;
  }

  private async create(interpreters: readonly InterpreterChoice[], folder: string): Promise<string | undefined> {
    const environment = path.join(folder, ".venv");
    const python = interpreterOf(environment);
    const base = interpreters.find(({ version }) => /^3\.(9|1[0-3])\./.test(version))?.path ?? "python3";
    const listed = requirements(folder);
    try {
      await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Creating an environment", cancellable: true }, async (progress, token) => {
        if (!existsSync(python)) {
          progress.report({ message: `making ${environment}`, increment: 10 });
          await runLogged(base, ["-m", "venv", environment], folder, this.log, token);
        }
        progress.report({ message: `installing ${listed === undefined ? "TensorFlow" : "requirements.txt"}; the log has the details`, increment: 20 });
        await runLogged(python, ["-m", "pip", "install", "--disable-pip-version-check", ...(listed === undefined ? ["tensorflow"] : ["-r", listed])], folder, this.log, token);
      });
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        const reason = error instanceof InstallFailed ? error.message : `${String(error)}.`;
        const chosen = await vscode.window.showErrorMessage(`The environment could not be made: ${reason}`, "Show Logs");
        if (chosen !== undefined) {
          this.log.show();
        }
      }
      return undefined;
    }
    return python;
  }
}

function requirements(folder: string): string | undefined {
  const file = path.join(folder, "requirements.txt");
  return existsSync(file) ? file : undefined;
}

async function browse(): Promise<string | undefined> {
  const picked = await vscode.window.showOpenDialog({ title: "Python that runs what is measured", openLabel: "Use" });
  return picked?.[0]?.fsPath;
}
