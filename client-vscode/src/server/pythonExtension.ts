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
  const api = extension?.isActive === true ? extension.exports : await extension?.activate();
  // An old or a different extension under that name may have no such API.
  return (api as Partial<PythonApi> | undefined)?.environments === undefined ? undefined : api;
}

async function resolve(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await pythonApi())?.environments;
  const environment = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
  return environment?.executable.uri?.fsPath;
}

/** Undefined also when the Python extension does not answer in time, or fails. */
export async function chosenInterpreter(resource: vscode.Uri | undefined): Promise<string | undefined> {
  return withinTime(resolve(resource), patience);
}

/** Calls back when another interpreter is chosen, and once when the extension answers later than it is waited for. */
export async function onInterpreterChange(changed: () => void): Promise<vscode.Disposable | undefined> {
  const asked = Date.now();
  const api = await pythonApi();
  if (Date.now() - asked > patience) {
    changed();
  }
  return api?.environments.onDidChangeActiveEnvironmentPath(changed);
}
