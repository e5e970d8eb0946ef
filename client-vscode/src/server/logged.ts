/** A program of ours run to its end, its words in the log: pip and venv. */
import { spawn } from "node:child_process";
import * as vscode from "vscode";
import { installAdvice } from "./installAdvice";

export class InstallFailed extends Error {}

export function runLogged(command: string, args: string[], cwd: string, log: vscode.LogOutputChannel, token: vscode.CancellationToken): Promise<void> {
  log.info(`running ${command} ${args.join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { windowsHide: true, cwd });
    const cancelled = token.onCancellationRequested(() => child.kill());
    const lines: string[] = [];
    const note = (chunk: Buffer): void => {
      const text = chunk.toString().trimEnd();
      lines.push(text);
      log.info(text);
    };
    child.stdout.on("data", note);
    child.stderr.on("data", note);
    child.on("error", (error) => {
      cancelled.dispose();
      reject(new InstallFailed(installAdvice(error.message)));
    });
    child.on("close", (code) => {
      cancelled.dispose();
      if (token.isCancellationRequested) {
        reject(new vscode.CancellationError());
      } else if (code === 0) {
        resolve();
      } else {
        reject(new InstallFailed(installAdvice(lines.join("\n"))));
      }
    });
  });
}

export function interpreterOf(environment: string): string {
  return process.platform === "win32" ? `${environment}\\Scripts\\python.exe` : `${environment}/bin/python`;
}
