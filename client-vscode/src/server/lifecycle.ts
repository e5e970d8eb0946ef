/** The language server's life: found, started, watched, restarted, stopped. */
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import type { Connection } from "./connection";
import type { ServerState } from "../format/figures";
import { decideLaunch } from "./launch";
import type { Launch } from "./launch";
import { basePythons, thisMachine } from "./machine";
import { launchProblems } from "../messages/notices";
import { InstallFailed } from "./privateEnvironment";
import type { PrivateEnvironment } from "./privateEnvironment";
import type { Problems } from "../messages/problems";
import type { CallSummary, Status } from "./protocol";
import { chosenInterpreter } from "./pythonExtension";

/** A server that dies this often within the window below is not started again by itself. */
const crashLimit = 4;
const crashWindow = 3 * 60 * 1000;

const settingsRemedy = { title: "Open Settings", act: () => vscode.commands.executeCommand("workbench.action.openSettings", "energyLsp.path") };

/** Which server to run, and the interpreter chosen in the Python extension, which runs the programs that are measured. */
interface Decision {
  launch: Launch;
  interpreter: string | undefined;
}

export class Server implements vscode.Disposable {
  private connection: Connection | undefined;
  private decision: Decision | undefined;
  private crashes: number[] = [];
  private generation = 0;
  private provenTimer: NodeJS.Timeout | undefined;
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  private readonly statusReceived = new vscode.EventEmitter<Status>();
  /** What the extension shows itself of the server's commands. */
  private readonly own = new Map<string, (argument: unknown) => Thenable<unknown>>();
  /** The interpreter for measuring that was chosen in this workspace. */
  private measuringPython: string | undefined;
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
    const decision = await this.decide();
    if (generation === this.generation) {
      await this.follow(decision, askedFor); // else it was started again meanwhile
    }
  }

  /** Starts anew only if another server would be taken now: another interpreter was chosen, Python was installed. */
  async reconsider(): Promise<void> {
    const generation = this.generation;
    const decision = await this.decide();
    if (generation !== this.generation || isDeepStrictEqual(decision, this.decision)) {
      return;
    }
    this.generation += 1;
    await this.disconnect();
    await this.follow(decision, false);
  }

  /** The user's own restart wipes the record of crashes. */
  async restart(): Promise<void> {
    this.crashes = [];
    await this.problems.forget("crashed");
    await this.start(true);
  }

  /** Makes the private environment and starts the server from it. */
  async install(): Promise<void> {
    const launch = this.decision?.launch;
    if (launch?.kind !== "install") {
      await this.start(true);
      if (this.decision?.launch.kind === "install") {
        await this.install();
      }
      return;
    }
    try {
      await this.environment.install(launch.python);
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        const reason = error instanceof InstallFailed ? error.message : `${String(error)}.`;
        const remedies = [{ title: "Try Again", act: () => this.install() }, settingsRemedy, this.logsRemedy()];
        void this.problems.tell("install-failed", `The energy-lsp server could not be installed: ${reason}`, remedies, true);
      }
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

  /** From now on the extension carries out a command of code actions and lenses itself. */
  takeOver(command: string, act: (argument: unknown) => Thenable<unknown>): void {
    this.own.set(command, act);
  }

  /** Programs are measured with this interpreter from now on. */
  async measureWith(python: string | undefined): Promise<void> {
    this.measuringPython = python;
    await this.connection?.settingsChanged();
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

  private async decide(): Promise<Decision> {
    const path = vscode.workspace.getConfiguration("energyLsp").get<string>("path", "");
    const trusted = vscode.workspace.isTrusted;
    // A restricted workspace may have chosen the interpreter: it is not run there.
    const interpreter = trusted ? await chosenInterpreter(vscode.window.activeTextEditor?.document.uri) : undefined;
    const launch = await decideLaunch({ path, interpreter, privatePython: this.environment.python, basePythons, trusted }, thisMachine);
    return { launch, interpreter };
  }

  private async follow(decision: Decision, askedFor: boolean): Promise<void> {
    this.decision = decision;
    const { launch, interpreter } = decision;
    switch (launch.kind) {
      case "run":
        await this.run(launch, interpreter);
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

  private async run(launch: Extract<Launch, { kind: "run" }>, interpreter: string | undefined): Promise<void> {
    this.log.info(`starting ${launch.command} ${launch.args.join(" ")} (${launch.origin})`);
    const generation = this.generation;
    const { Connection } = await import("./connection");
    if (generation !== this.generation) {
      return;
    }
    const connection = new Connection({ ...launch, interpreter }, this.log, {
      stateChanged: (state) => {
        if (this.connection === connection) {
          this.become(state);
        }
      },
      statusReceived: (status) => {
        this.statusReceived.fire(status);
      },
      ended: () => {
        this.ended(connection, "it stopped");
      },
      carryOut: (command, argument) => this.own.get(command)?.(argument),
      measuringPython: () => this.measuringPython,
    });
    this.connection = connection;
    try {
      await connection.start();
      await this.problems.forget(...launchProblems);
      this.provenTimer = setTimeout(() => void this.problems.forget("crashed"), crashWindow);
    } catch (error) {
      this.ended(connection, error instanceof Error ? error.message : String(error));
    }
  }

  /** The server ended by itself, or did not even start: once more, unless it keeps doing so. */
  private ended(connection: Connection, reason: string): void {
    if (this.connection !== connection) {
      return; // stopped by us, or told already
    }
    const now = Date.now();
    this.crashes = [...this.crashes.filter((time) => now - time < crashWindow), now];
    if (this.crashes.length < crashLimit) {
      this.log.warn(`the server ended by itself and is started again: ${reason}`);
      void this.start();
      return;
    }
    void this.disconnect();
    this.become("stopped");
    const message = `The energy-lsp server ended ${crashLimit} times in a row and is not started again by itself. The log says why.`;
    void this.problems.tell("crashed", message, [{ title: "Restart", act: () => this.restart() }, this.logsRemedy()]);
  }

  private async tellProblem(launch: Extract<Launch, { kind: "problem" }>, askedFor: boolean): Promise<void> {
    const again = { title: "Try Again", act: () => this.start(true) };
    switch (launch.problem) {
      case "wrong-path":
        await this.problems.tell("wrong-path", `energyLsp.path names a file that does not exist: ${launch.detail}. Correct or clear the setting.`, [settingsRemedy, again], askedFor);
        break;
      case "no-python":
        await this.problems.tell("no-python", "energy-lsp needs Python 3.10 or newer and found none. Install Python, or name an energy-lsp command in the settings.", [again, settingsRemedy], askedFor);
        break;
      case "old-python":
        await this.problems.tell("old-python", `energy-lsp needs Python 3.10 or newer, but ${launch.detail}. Choose a newer interpreter.`, [
          { title: "Choose Interpreter", act: () => vscode.commands.executeCommand("python.setInterpreter").then(undefined, () => settingsRemedy.act()) },
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
    clearTimeout(this.provenTimer);
    await connection?.stop();
  }
}
