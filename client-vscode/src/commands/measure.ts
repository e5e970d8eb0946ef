/** Measuring is a choice: what runs, with which arguments and interpreter, and how often, is shown before it does. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { EnergyView } from "../views/energy";
import type { Interpreters } from "./interpreters";
import { warnNotRunning, warnRefused } from "../messages/refusals";
import { chosenLabel, chosenPlace, commandsText, environmentOf, environmentProblem, expectedTime, splitArguments } from "../format/choices";
import type { HowOften } from "../format/choices";
import { serverCommands } from "../server/protocol";
import type { Measured, Programs } from "../server/protocol";
import type { Server } from "../server/lifecycle";

/** What is measured, for the server and for people. */
export interface Target {
  argument: { uri: string } | { workspace: string };
  name: string;
  folder: string;
}

interface Choice {
  howOften: HowOften;
  arguments: string[];
  environment: Record<string, string>;
  entries?: string[];
}

/** What a program runs with, in words and for the server. */
export interface Prepared {
  runs: string;
  python: string;
  arguments: string[];
  environment: Record<string, string>;
}

/** Kept for the workspace: how often, and by program its arguments and variables; by folder the programs. */
interface Remembered {
  howOften: HowOften;
  arguments: Record<string, string>;
  environment: Record<string, string>;
  entries: Record<string, string[]>;
}

const memoryKey = "measuring";

export class Measuring {
  private readonly measuredOnce = new vscode.EventEmitter<Measured>();
  readonly onMeasured = this.measuredOnce.event;

  constructor(
    private readonly server: Server,
    private readonly view: EnergyView,
    private readonly interpreters: Interpreters,
    private readonly memory: vscode.Memento,
  ) {}

  /** Asks what and how, then measures. `further`: what a code action wants beside. */
  async ask(target: Target, further: object = {}): Promise<void> {
    try {
      const choice = await this.choose(target);
      if (choice !== undefined) {
        await this.run(target, { ...choice, ...further });
      }
    } catch (refusal) {
      await warnRefused(refusal);
    }
  }

  async chooseInterpreter(target: Target): Promise<void> {
    try {
      const programs = await this.programs(target);
      if (programs === undefined) {
        await warnNotRunning("There is nothing to choose from");
        return;
      }
      await this.interpreters.choose(programs, target.folder);
    } catch (refusal) {
      await warnRefused(refusal);
    }
  }

  /** What runs a program that is not measured but tuned, or this machine's calibration: an interpreter is asked for where none will do. */
  async prepare(target: Target): Promise<Prepared | undefined> {
    const programs = await this.programs(target);
    if (programs === undefined) {
      await warnNotRunning("Nothing was run");
      return undefined;
    }
    const able = await this.withInterpreter(programs, target);
    const known = this.remembered();
    const typed = known.arguments[target.name] ?? "";
    const variables = known.environment[target.name] ?? "";
    const runs = `${commandsText([target.name], typed, variables)} with ${chosenPlace(able ?? programs)}`;
    return able && { runs, python: chosenLabel(able), arguments: splitArguments(typed), environment: environmentOf(variables) };
  }

  /** What a program was measured with last, for a part of it. */
  forProgram(name: string): { python: string | undefined; environment: Record<string, string> } {
    return { python: this.interpreters.chosen, environment: environmentOf(this.remembered().environment[name] ?? "") };
  }

  private async choose(target: Target): Promise<Choice | undefined> {
    const programs = await this.programs(target);
    if (programs === undefined) {
      await warnNotRunning("Nothing was measured");
      return undefined;
    }
    const entries = "workspace" in target.argument ? await this.pickPrograms(programs, target) : undefined;
    if ("workspace" in target.argument && entries === undefined) {
      return undefined;
    }
    const able = await this.withInterpreter(programs, target);
    return able && this.confirm(able, target, entries);
  }

  /** The same with an interpreter that has TensorFlow or Keras; undefined when none was chosen. */
  private async withInterpreter(programs: Programs, target: Target): Promise<Programs | undefined> {
    if (programs.python !== null) {
      return programs;
    }
    if ((await this.interpreters.choose(programs, target.folder)) === undefined) {
      return undefined;
    }
    return (await this.programs(target)) ?? programs;
  }

  private programs(target: Target): Thenable<Programs | undefined> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Looking at what could be measured" }, () =>
      this.server.execute<Programs>(serverCommands.programs, { ...target.argument, python: this.interpreters.chosen }),
    );
  }

  /** Which programs of a folder; undefined when nothing is to be measured. */
  private async pickPrograms({ programs, problem }: Programs, target: Target): Promise<string[] | undefined> {
    if (programs.length === 0) {
      void vscode.window.showInformationMessage(problem ?? "No script here calls TensorFlow or Keras from its top level or a main block: open the one to measure.");
      return undefined;
    }
    const before = this.remembered().entries[target.folder] ?? (programs.length === 1 ? programs.map(({ file }) => file) : []);
    const items = programs.map(({ file, seconds }) => ({ label: file, description: seconds === null ? "not measured yet" : expectedTime([seconds], "quick"), picked: before.includes(file) }));
    const chosen = await vscode.window.showQuickPick(items, { canPickMany: true, title: `Programs of ${target.name} to measure`, placeHolder: "Only what is ticked will run" });
    if (chosen === undefined || chosen.length === 0) {
      return undefined;
    }
    const entries = chosen.map(({ label }) => label);
    await this.remember((known) => ({ ...known, entries: { ...known.entries, [target.folder]: entries } }));
    return entries;
  }

  /** Names what will run. The first entry, which Enter takes, is what was chosen last time. */
  private async confirm(programs: Programs, target: Target, entries: string[] | undefined): Promise<Choice | undefined> {
    const files = entries ?? [target.name];
    const key = files.join(" ");
    const seconds = programs.programs.filter(({ file }) => entries === undefined || entries.includes(file)).map((one) => one.seconds);
    let chosen = programs;
    for (;;) {
      const known = this.remembered();
      const typed = known.arguments[key] ?? "";
      const variables = known.environment[key] ?? "";
      const detail = `Runs ${commandsText(files, typed, variables)} with ${chosenPlace(chosen)}`;
      const quick = { label: "$(dashboard) Measure once", description: expectedTime(seconds, "quick"), detail, howOften: "quick" as const };
      const full = { label: "$(sync) Measure five times", description: `${expectedTime(seconds, "full")}, says how sure the figures are`, detail, howOften: "full" as const };
      const items = [
        ...(known.howOften === "quick" ? [quick, full] : [full, quick]),
        { label: "", kind: vscode.QuickPickItemKind.Separator },
        { label: "$(edit) Arguments…", description: typed === "" ? "none" : typed, step: "arguments" },
        { label: "$(symbol-variable) Environment…", description: variables === "" ? "nothing added" : variables, step: "environment" },
        { label: "$(symbol-namespace) Interpreter…", description: chosenLabel(chosen), step: "interpreter" },
      ] as (vscode.QuickPickItem & { howOften?: HowOften; step?: string })[];
      const picked = await vscode.window.showQuickPick(items, { title: `Measure ${files.length === 1 ? files[0] : target.name}` });
      if (picked?.step === "arguments") {
        const answer = await vscode.window.showInputBox({ title: `Arguments of ${key}`, value: typed, prompt: "As in a terminal; empty for none" });
        if (answer !== undefined) {
          await this.remember((now) => ({ ...now, arguments: { ...now.arguments, [key]: answer.trim() } }));
        }
      } else if (picked?.step === "environment") {
        const prompt = "Variables that the program gets beside those of the editor, such as TF_CPP_MIN_LOG_LEVEL=2 DATA='my data'; empty for none";
        const answer = await vscode.window.showInputBox({ title: `Environment of ${key}`, value: variables, prompt, validateInput: environmentProblem });
        if (answer !== undefined) {
          await this.remember((now) => ({ ...now, environment: { ...now.environment, [key]: answer.trim() } }));
        }
      } else if (picked?.step === "interpreter") {
        await this.interpreters.choose(chosen, target.folder);
        chosen = (await this.programs(target)) ?? chosen;
      } else if (picked?.howOften !== undefined) {
        const { howOften } = picked;
        await this.remember((now) => ({ ...now, howOften }));
        return { howOften, arguments: splitArguments(typed), environment: environmentOf(variables), ...(entries === undefined ? {} : { entries }) };
      } else {
        return undefined;
      }
    }
  }

  private async run(target: Target, choice: object): Promise<void> {
    await this.view.remember();
    const measured = await this.server.executeWithProgress<Measured>(serverCommands.measure, { ...target.argument, python: this.interpreters.chosen, ...choice }, `Measuring ${target.name}`);
    if (measured === undefined) {
      await warnNotRunning("Nothing was measured");
      return;
    }
    this.view.refresh();
    this.measuredOnce.fire(measured);
    if (measured.status === "finished") {
      const chosen = await vscode.window.showInformationMessage(measured.said, "Open Report");
      if (chosen !== undefined) {
        await vscode.commands.executeCommand("energyLsp.openReport", measured.run);
      }
    } else {
      await tellFailure(measured);
    }
  }

  private remembered(): Remembered {
    return { howOften: "quick", arguments: {}, environment: {}, entries: {}, ...this.memory.get<Partial<Remembered>>(memoryKey) };
  }

  private remember(change: (known: Remembered) => Remembered): Thenable<void> {
    return this.memory.update(memoryKey, change(this.remembered()));
  }
}

/** "train.py stopped: URLError (line 31)." and where to look. */
async function tellFailure({ problem, place, output, run }: Measured): Promise<void> {
  const buttons = ["Show Output", ...(run === null ? [] : ["Partial Report"]), ...(place === null ? [] : ["Go to Line"])];
  const chosen = await vscode.window.showWarningMessage(problem, ...buttons);
  if (chosen === "Show Output") {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(output));
    const editor = await vscode.window.showTextDocument(document, { preview: true });
    const last = document.lineCount - 1;
    editor.revealRange(new vscode.Range(last, 0, last, 0));
  } else if (chosen === "Partial Report") {
    await vscode.commands.executeCommand("energyLsp.openReport", run);
  } else if (chosen === "Go to Line" && place !== null) {
    await vscode.window.showTextDocument(vscode.Uri.parse(place.uri), { selection: new vscode.Range(place.line, 0, place.line, 0) });
  }
}

/** The file in front, saved, or undefined with a word to the user. */
export async function savedTarget(): Promise<Target | undefined> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  if (notebook !== undefined) {
    await notebook.save();
    return fileTarget(notebook.uri);
  }
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "python" || document.isUntitled) {
    void vscode.window.showInformationMessage("Open and save a Python file or notebook first, then measure it.");
    return undefined;
  }
  await document.save();
  return fileTarget(document.uri);
}

export function fileTarget(uri: vscode.Uri): Target {
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
  return { argument: { uri: uri.toString() }, name: vscode.workspace.asRelativePath(uri), folder };
}

export function folderTarget(folder: vscode.WorkspaceFolder): Target {
  return { argument: { workspace: folder.uri.toString() }, name: folder.name, folder: folder.uri.fsPath };
}
