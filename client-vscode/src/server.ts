/** The language server's life: found, started, watched, restarted, stopped. */
import * as vscode from "vscode";
import type { Connection } from "./connection";
import type { ServerState } from "./format";
import { decideLaunch } from "./launch";
import type { Launch } from "./launch";
import { basePythons, thisMachine } from "./machine";
import { InstallFailed } from "./privateEnvironment";
import type { PrivateEnvironment } from "./privateEnvironment";
import type { Problems } from "./problems";
import type { CallSummary, Status } from "./protocol";
import { chosenInterpreter } from "./pythonExtension";

/** A server that dies this often within the window below is not started again by itself. */
const crashLimit = 4;
const crashWindow = 3 * 60 * 1000;

export class Server implements vscode.Disposable {
  private connection: Connection | undefined;
  private launch: Launch | undefined;
  private crashes: number[] = [];
  private generation = 0;
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private readonly statusReceived = new vscode.EventEmitter<Status>();
  readonly onState = this.stateChanged.event;
  readonly onStatus = this.statusReceived.event;
  state: ServerState = "starting";

  constructor(
    private readonly environment: PrivateEnvironment,
    private readonly problems: Problems,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Starts the server, or says once what is missing. `askedFor`: the user pressed a button, so always answer. */
  async start(askedFor = false): Promise<void> {
    const generation = ++this.generation;
    await this.disconnect();
    this.become("starting");
    const launch = await decideLaunch(
      {
        path: vscode.workspace.getConfiguration("energyLsp").get<string>("path", ""),
        interpreter: await chosenInterpreter(vscode.window.activeTextEditor?.document.uri),
        privatePython: this.environment.python,
        basePythons,
        trusted: vscode.workspace.isTrusted,
      },
      thisMachine,
    );
    if (generation !== this.generation) {
      return; // started again meanwhile
    }
    this.launch = launch;
    switch (launch.kind) {
      case "run":
        await this.run(launch);
        break;
      case "install":
        this.become("absent");
        void this.problems.tell(
          "no-server",
          "The energy-lsp server is not installed yet. It can be installed into a private environment of this extension.",
          [{ title: "Install", act: () => this.install() }, this.logsRemedy()],
          askedFor,
        );
        break;
      case "problem":
        this.become("absent");
        void this.tellProblem(launch, askedFor);
    }
  }

  /** Makes the private environment and starts the server from it. */
  async install(): Promise<void> {
    const launch = this.launch;
    if (launch?.kind !== "install") {
      await this.start(true);
      if (this.launch?.kind === "install") {
        await this.install();
      }
      return;
    }
    try {
      await this.environment.install(launch.python);
    } catch (error) {
      if (error instanceof vscode.CancellationError) {
        return;
      }
      const reason = error instanceof InstallFailed ? error.message : String(error);
      void this.problems.tell("install-failed", `The energy-lsp server could not be installed: ${reason}`, [{ title: "Try Again", act: () => this.install() }, this.logsRemedy()], true);
      return;
    }
    await this.start(true);
  }

  /** Runs a command of the server; undefined when no server runs. */
  async execute<T>(command: string, argument: object = {}): Promise<T | undefined> {
    return this.connection?.execute<T>(command, argument);
  }

  async executeWithProgress<T>(command: string, argument: object, title: string): Promise<T | undefined> {
    return this.connection?.executeWithProgress<T>(command, argument, title);
  }

  toCode(range: CallSummary["range"]): vscode.Range | undefined {
    return this.connection?.toCode(range);
  }

  async stop(): Promise<void> {
    this.generation += 1;
    await this.disconnect();
  }

  dispose(): void {
    void this.stop();
    this.stateChanged.dispose();
    this.statusReceived.dispose();
  }

  private async run(launch: Extract<Launch, { kind: "run" }>): Promise<void> {
    this.log.info(`starting ${launch.command} ${launch.args.join(" ")} (${launch.origin})`);
    const generation = this.generation;
    const { Connection } = await import("./connection");
    const connection = new Connection(launch.command, launch.args, this.log, {
      stateChanged: (state) => {
        if (this.connection === connection) {
          this.become(state);
        }
      },
      statusReceived: (status) => {
        this.statusReceived.fire(status);
      },
      ended: () => this.startAgain(),
    });
    if (generation !== this.generation) {
      return;
    }
    this.connection = connection;
    try {
      await connection.start();
      await this.problems.forget();
    } catch (error) {
      if (this.connection === connection) {
        this.become("stopped");
        await this.tellCrash(error instanceof Error ? error.message : String(error));
      }
    }
  }

  /** Whether a server that ended by itself is started again. */
  private startAgain(): boolean {
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < crashWindow), now];
    if (this.crashes.length < crashLimit) {
      this.log.warn("the server stopped unexpectedly and is started again");
      return true;
    }
    this.become("stopped");
    void this.tellCrash(`it stopped ${this.crashes.length} times in three minutes`);
    return false;
  }

  private async tellCrash(reason: string): Promise<void> {
    await this.problems.tell("crashed", `The energy-lsp server does not run: ${reason}.`, [{ title: "Restart", act: () => this.restart() }, this.logsRemedy()]);
  }

  /** The user's own restart wipes the record of crashes. */
  async restart(): Promise<void> {
    this.crashes = [];
    await this.start(true);
  }

  private async tellProblem(launch: Extract<Launch, { kind: "problem" }>, askedFor: boolean): Promise<void> {
    const settings = { title: "Open Settings", act: () => vscode.commands.executeCommand("workbench.action.openSettings", "energyLsp.path") };
    const again = { title: "Try Again", act: () => this.start(true) };
    switch (launch.problem) {
      case "wrong-path":
        await this.problems.tell("wrong-path", `energyLsp.path names a file that does not exist: ${launch.detail}. Correct or clear the setting.`, [settings, again], askedFor);
        break;
      case "no-python":
        await this.problems.tell("no-python", "energy-lsp needs Python 3.10 or newer and found none. Install Python, or name an energy-lsp command in the settings.", [again, settings], askedFor);
        break;
      case "old-python":
        await this.problems.tell("old-python", `energy-lsp needs Python 3.10 or newer, but ${launch.detail}. Choose a newer interpreter.`, [
          { title: "Choose Interpreter", act: () => vscode.commands.executeCommand("python.setInterpreter").then(undefined, () => settings.act()) },
          again,
        ], askedFor);
    }
  }

  private logsRemedy(): { title: string; act: () => void } {
    return {
      title: "Show Logs",
      act: () => {
        this.log.show();
      },
    };
  }

  private become(state: ServerState): void {
    this.state = state;
    this.stateChanged.fire(state);
  }

  private async disconnect(): Promise<void> {
    const connection = this.connection;
    this.connection = undefined;
    await connection?.stop();
  }
}
