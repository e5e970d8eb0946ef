/** The interpreter chosen in the Python extension, where that extension is there; never waited for long. */
import * as vscode from "vscode";
import { withinTime } from "./patience";

const patience = 5_000;

interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (extension === undefined) {
    return undefined;
  }
  const api = extension.isActive ? extension.exports : await withinTime(extension.activate(), patience);
  // An old or a different extension under that name may have no such API.
  return (api as Partial<PythonApi> | undefined)?.environments === undefined ? undefined : api;
}

export async function chosenInterpreter(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const api = await pythonApi();
  if (api === undefined) {
    return undefined;
  }
  const environment = await withinTime(api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(resource)), patience);
  return environment?.executable.uri?.fsPath;
}

/** Calls back when another interpreter is chosen. */
export async function onInterpreterChange(changed: () => void): Promise<vscode.Disposable | undefined> {
  const api = await pythonApi();
  return api?.environments.onDidChangeActiveEnvironmentPath(changed);
}
