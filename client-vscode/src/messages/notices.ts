/** Which problems have been told, kept as files: the windows of a machine share them, and of several that start together one speaks. */
import { mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import * as path from "node:path";

const day = 24 * 60 * 60 * 1000;

/** What keeps the server from being found or started. */
export const launchProblems = ["no-server", "wrong-path", "no-python", "old-python", "install-failed"] as const;
export type ProblemKind = (typeof launchProblems)[number] | "crashed";

export class Notices {
  constructor(private readonly folder: string) {}

  /** True for the first who asks about a problem, then false for a day. */
  async claim(kind: ProblemKind, now: number): Promise<boolean> {
    const file = path.join(this.folder, kind);
    try {
      await mkdir(this.folder, { recursive: true });
      await writeFile(file, "", { flag: "wx" });
      return true;
    } catch {
      return this.renew(file, now);
    }
  }

  async forget(kinds: readonly ProblemKind[]): Promise<void> {
    await Promise.all(kinds.map((kind) => rm(path.join(this.folder, kind), { force: true })));
  }

  private async renew(file: string, now: number): Promise<boolean> {
    try {
      if (now - (await stat(file)).mtimeMs < day) {
        return false;
      }
      await utimes(file, now / 1000, now / 1000);
    } catch {
      // A folder that cannot be written keeps no memory: better told twice than never.
    }
    return true;
  }
}
