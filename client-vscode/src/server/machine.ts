/** Real answers to what `launch.ts` asks: files and interpreters of this machine. */
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import type { Machine } from "./launch";

const patience = 10_000;

/** Standard output of a short command, or undefined when it fails or takes too long. */
function output(command: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    // From a neutral folder and isolated (-I), so that a file of the workspace is never imported by accident.
    execFile(command, args, { timeout: patience, windowsHide: true, cwd: process.platform === "win32" ? undefined : "/" }, (error, stdout) => {
      resolve(error === null ? stdout.trim() : undefined);
    });
  });
}

export const thisMachine: Machine = {
  exists: (file) =>
    access(file).then(
      () => true,
      () => false,
    ),
  pythonVersion: (python) => output(python, ["-I", "-c", "import platform; print(platform.python_version())"]),
  hasServer: async (python) =>
    (await output(python, ["-I", "-c", "import importlib.util as u; print(u.find_spec('energy_lsp') is not None)"])) === "True",
};

/** Names under which a Python may be found on PATH. */
export const basePythons: readonly string[] = process.platform === "win32" ? ["py", "python"] : ["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"];
