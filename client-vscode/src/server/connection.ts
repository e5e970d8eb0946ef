/** One conversation with a running server. Loaded when the server starts: the client library is most of the extension. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  WorkDoneProgress,
  WorkDoneProgressCancelNotification,
} from "vscode-languageclient/node";
import type { LanguageClientOptions, Range } from "vscode-languageclient/node";
import type { ServerState } from "../format/figures";
import { statusNotification } from "./protocol";
import type { Status } from "./protocol";

const patienceToStop = 2000;

/** What the conversation tells its owner. */
export interface Listener {
  stateChanged(state: ServerState): void;
  statusReceived(status: Status): void;
  /** The server ended by itself; this conversation is over. */
  ended(): void;
  /** A code action or a lens was chosen whose result the extension shows itself; undefined for all others. */
  carryOut(command: string, argument: unknown): Thenable<unknown> | undefined;
  /** The interpreter chosen for measuring in this workspace. */
  measuringPython(): string | undefined;
}

/** What to run, and the interpreter for measuring when the settings name none. */
export interface ServerCommand {
  command: string;
  args: string[];
  interpreter: string | undefined;
}

export class Connection {
  private readonly client: LanguageClient;

  constructor(
    private readonly run: ServerCommand,
    private readonly log: vscode.LogOutputChannel,
    listener: Listener,
  ) {
    this.client = new LanguageClient("energyLsp", "energy-lsp", { command: run.command, args: run.args }, this.options(listener));
    this.client.onNotification(statusNotification, (status: Status) => {
      listener.statusReceived(status);
    });
    this.client.onDidChangeState(({ newState }) => {
      listener.stateChanged(newState === State.Running ? "running" : newState === State.Starting ? "starting" : "stopped");
    });
  }

  start(): Promise<void> {
    return this.client.start();
  }

  /** Runs a command of the server; undefined when it does not run. */
  async execute<T>(command: string, argument: object, workDoneToken?: string): Promise<T | undefined> {
    if (this.client.state !== State.Running) {
      return undefined;
    }
    const token = workDoneToken === undefined ? {} : { workDoneToken };
    return (await this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument], ...token })) as T | undefined;
  }

  /** The same with the server's progress in a notification that can be cancelled. */
  executeWithProgress<T>(command: string, argument: object, title: string): Thenable<T | undefined> {
    return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, cancellation) => {
      const token = randomUUID();
      let reached = 0;
      const listening = this.client.onProgress(WorkDoneProgress.type, token, (value) => {
        if (value.kind !== "end") {
          const percentage = value.percentage ?? reached;
          progress.report({ increment: Math.max(0, percentage - reached), ...(value.message === undefined ? {} : { message: value.message }) });
          reached = Math.max(reached, percentage);
        }
      });
      const cancelling = cancellation.onCancellationRequested(() => void this.client.sendNotification(WorkDoneProgressCancelNotification.type, { token }));
      try {
        return await this.execute<T>(command, argument, token);
      } finally {
        vscode.Disposable.from(listening, cancelling).dispose();
      }
    });
  }

  /** The settings that the server has asked for are others now. */
  async settingsChanged(): Promise<void> {
    await this.client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
  }

  toCode(range: Range): vscode.Range {
    return this.client.protocol2CodeConverter.asRange(range);
  }

  async stop(): Promise<void> {
    try {
      await this.client.dispose(patienceToStop);
    } catch (error) {
      this.log.debug(`the server did not stop in time: ${String(error)}`);
    }
  }

  private options(listener: Listener): LanguageClientOptions {
    return {
      documentSelector: [{ language: "python" }, { notebook: "jupyter-notebook", language: "python" }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { trusted: vscode.workspace.isTrusted },
      progressOnInitialization: true,
      middleware: {
        workspace: {
          configuration: async (params, token, next) => {
            const answered = await next(params, token);
            const chosen = listener.measuringPython();
            return Array.isArray(answered) ? answered.map((section: unknown) => withInterpreter(section, chosen, this.run.interpreter)) : answered;
          },
        },
        executeCommand: (command, args: unknown[], next): Thenable<unknown> => listener.carryOut(command, args[0]) ?? (next(command, args) as Thenable<unknown>),
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        // Starting again is the owner's decision. It is notified once the library has put its own things in order.
        closed: () => {
          setImmediate(() => {
            listener.ended();
          });
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      // The library would show a message of its own; ours has a button.
      initializationFailedHandler: () => false,
    };
  }
}

/** Programs are measured with the interpreter chosen for it, else that of the settings, else the editor's. */
function withInterpreter(section: unknown, chosen: string | undefined, interpreter: string | undefined): unknown {
  const measurePython = (section as { measurePython?: string } | null)?.measurePython;
  if (measurePython !== undefined && chosen !== undefined) {
    return { ...(section as object), measurePython: chosen };
  }
  return measurePython === "" && interpreter !== undefined ? { ...(section as object), measurePython: interpreter } : section;
}
