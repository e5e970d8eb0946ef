/** Deciding how the server is started. Pure: what the machine has is asked through `Machine`, so tests need no editor. */

export const oldestPython: readonly [number, number] = [3, 10];

/** What can be asked of the machine; the extension answers with real processes. */
export interface Machine {
  exists(file: string): Promise<boolean>;
  /** "3.11.7" or undefined when the interpreter does not run. */
  pythonVersion(python: string): Promise<string | undefined>;
  /** Whether `python -m energy_lsp` would work. */
  hasServer(python: string): Promise<boolean>;
}

export interface Wishes {
  /** Setting `energyLsp.path`, empty when unset. */
  path: string;
  /** The interpreter chosen in the Python extension, if there is one. */
  interpreter: string | undefined;
  /** Interpreter of the private environment (it may not exist yet). */
  privatePython: string;
  /** Interpreters to try when a private environment has to be made. */
  basePythons: readonly string[];
  trusted: boolean;
}

export type Launch =
  | { kind: "run"; command: string; args: string[]; origin: "setting" | "interpreter" | "private" }
  | { kind: "install"; python: string }
  | { kind: "problem"; problem: "wrong-path" | "no-python" | "old-python"; detail: string };

export async function decideLaunch(wishes: Wishes, machine: Machine): Promise<Launch> {
  if (wishes.path !== "" && wishes.trusted) {
    return (await machine.exists(wishes.path))
      ? { kind: "run", command: wishes.path, args: ["serve"], origin: "setting" }
      : { kind: "problem", problem: "wrong-path", detail: wishes.path };
  }
  // A restricted workspace may have chosen the interpreter: it is not run there.
  if (wishes.interpreter !== undefined && wishes.trusted && (await machine.hasServer(wishes.interpreter))) {
    return { kind: "run", command: wishes.interpreter, args: ["-m", "energy_lsp", "serve"], origin: "interpreter" };
  }
  if (await machine.exists(wishes.privatePython)) {
    return { kind: "run", command: wishes.privatePython, args: ["-m", "energy_lsp", "serve"], origin: "private" };
  }
  return findBasePython(wishes, machine);
}

async function findBasePython(wishes: Wishes, machine: Machine): Promise<Launch> {
  const candidates = wishes.trusted && wishes.interpreter !== undefined ? [wishes.interpreter, ...wishes.basePythons] : wishes.basePythons;
  let tooOld: string | undefined;
  for (const python of candidates) {
    const version = await machine.pythonVersion(python);
    if (version === undefined) {
      continue;
    }
    if (isNewEnough(version)) {
      return { kind: "install", python };
    }
    tooOld ??= `${python} is Python ${version}`;
  }
  return tooOld === undefined
    ? { kind: "problem", problem: "no-python", detail: candidates.join(", ") }
    : { kind: "problem", problem: "old-python", detail: tooOld };
}

/** True for 3.10 and newer. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestPython[0] || (major === oldestPython[0] && minor >= oldestPython[1]);
}
