/** Words for what can be chosen before a measurement. No import of "vscode": they are unit-tested in plain Node. */
import type { InterpreterChoice, Programs } from "../server/protocol";

export type HowOften = "quick" | "full";
export const fullRuns = 5;

/** "Python 3.11.7 with TensorFlow and Keras". */
export function interpreterLabel({ version, tensorflow, keras }: InterpreterChoice): string {
  const has = [...(tensorflow ? ["TensorFlow"] : []), ...(keras ? ["Keras"] : [])];
  return `Python ${version}${has.length === 0 ? "" : ` with ${has.join(" and ")}`}`;
}

/** "about 12 s", "about 3 min", or that nobody knows: only what ran here before tells. */
export function expectedTime(seconds: readonly (number | null)[], howOften: HowOften): string {
  if (seconds.length === 0 || seconds.some((one) => one === null)) {
    const each = seconds.length > 1 ? " each" : "";
    return howOften === "quick" ? `one run${each}` : `${fullRuns} runs${each}`;
  }
  const once = seconds.reduce<number>((sum, one) => sum + (one ?? 0), 0);
  const all = howOften === "quick" ? once : once * fullRuns;
  return all < 90 ? `about ${Math.max(1, Math.round(all))} s` : `about ${Math.round(all / 60)} min`;
}

/** The arguments as they were typed, split as a shell would: quotes keep blanks together. */
export function splitArguments(text: string): string[] {
  const found = text.matchAll(/(?:[^\s"']|"([^"]*)"|'([^']*)')+/g);
  return [...found].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""));
}

/** Variables as they were typed, NAME=VALUE each; quotes keep blanks together. */
export function environmentOf(text: string): Record<string, string> {
  const pairs = splitArguments(text).map((word) => {
    const sign = word.indexOf("=");
    return [word.slice(0, sign), word.slice(sign + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** What is wrong with variables that are being typed; undefined for nothing. */
export function environmentProblem(text: string): string | undefined {
  const wrong = splitArguments(text).find((word) => !/^[A-Za-z_]\w*=/.test(word));
  return wrong === undefined ? undefined : `${wrong} is not NAME=VALUE`;
}

/** What will run, for a person to confirm: "SEED=1 python train.py --epochs 2". */
export function commandsText(files: readonly string[], typed: string, variables = ""): string {
  const programs = files.length > 3 ? `${files.slice(0, 3).join(", ")} and ${files.length - 3} more` : files.join(", ");
  return `${variables === "" ? "" : `${variables} `}python ${programs}${typed === "" ? "" : ` ${typed}`}`;
}

/** Where the interpreter lies that would be taken, shortened to what tells it apart. */
export function chosenPlace({ python }: Pick<Programs, "python">): string {
  return python === null ? "none" : python.split(/[\\/]/).slice(-3).join("/");
}

/** The same with what it has. */
export function chosenLabel({ python, interpreters }: Programs): string {
  const one = interpreters.find(({ path }) => path === python);
  const place = chosenPlace({ python });
  return one === undefined ? place : `${place} (${interpreterLabel(one)})`;
}

/** The test around a line, from 0, as pytest names it: "test_one" or "TestNet::test_one". */
export function testAround(text: string, line: number): string | undefined {
  const lines = text.split(/\r?\n/);
  const names: string[] = [];
  let indent = Infinity;
  for (let at = Math.min(line, lines.length - 1); at >= 0 && indent > 0; at -= 1) {
    const found = /^(\s*)(?:async\s+)?(?:def|class)\s+(\w+)/.exec(lines[at] ?? "");
    const here = /^\s*/.exec(lines[at] ?? "")?.[0].length ?? 0;
    if (found?.[1] !== undefined && found[2] !== undefined && found[1].length < indent) {
      names.unshift(found[2]);
      indent = found[1].length;
    } else if ((lines[at] ?? "").trim() !== "" && names.length === 0 && at < line && here === 0) {
      return undefined; // at module level, below a function
    }
  }
  const inside = names.findIndex((name) => name.startsWith("test"));
  return inside < 0 ? undefined : names.slice(0, inside + 1).join("::");
}
