/** A virtual environment of the extension's own, made once, on request, from the wheel inside the extension. */
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { InstallFailed, interpreterOf, runLogged } from "./logged";

export { InstallFailed } from "./logged";

export class PrivateEnvironment {
  private readonly folder: string;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    // One environment a version: an update of the extension brings its own server.
    const version = (context.extension.packageJSON as { version: string }).version;
    this.folder = path.join(context.globalStorageUri.fsPath, `server-${version}`);
  }

  get python(): string {
    return interpreterOf(this.folder);
  }

  /** Makes the environment; one that could not be finished is removed, so that a broken one is never used. */
  async install(python: string): Promise<void> {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: "Installing the energy-lsp server", cancellable: true },
      async (progress, token) => {
        const wheel = await this.wheel();
        await mkdir(this.context.globalStorageUri.fsPath, { recursive: true });
        await rm(this.folder, { recursive: true, force: true });
        try {
          progress.report({ message: "making an environment", increment: 10 });
          await this.run(python, ["-m", "venv", this.folder], token);
          progress.report({ message: "installing the server", increment: 30 });
          await this.run(this.python, ["-m", "pip", "install", "--disable-pip-version-check", wheel], token);
          progress.report({ message: "done", increment: 60 });
        } catch (error) {
          await rm(this.folder, { recursive: true, force: true });
          throw error;
        }
      },
    );
    await this.removeOlder();
  }

  private async wheel(): Promise<string> {
    const folder = vscode.Uri.joinPath(this.context.extensionUri, "server").fsPath;
    const name = (await readdir(folder)).find((file) => file.endsWith(".whl"));
    if (name === undefined) {
      throw new InstallFailed("this build of the extension carries no server; install energy-lsp with pip instead");
    }
    return path.join(folder, name);
  }

  private run(command: string, args: string[], token: vscode.CancellationToken): Promise<void> {
    return runLogged(command, args, this.context.globalStorageUri.fsPath, this.log, token);
  }

  private async removeOlder(): Promise<void> {
    const storage = this.context.globalStorageUri.fsPath;
    for (const name of await readdir(storage)) {
      if (name.startsWith("server-") && path.join(storage, name) !== this.folder) {
        const doomed = path.join(storage, `old-${name}`);
        // Another window may still run the old server: then its folder cannot be moved on Windows, and stays.
        await rename(path.join(storage, name), doomed).then(
          () => rm(doomed, { recursive: true, force: true }),
          () => undefined,
        );
      }
    }
  }
}
