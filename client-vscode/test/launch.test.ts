import assert from "node:assert/strict";
import { test } from "node:test";
import { decideLaunch, isNewEnough } from "../src/server/launch";
import type { Machine, Wishes } from "../src/server/launch";
import { withinTime } from "../src/server/patience";

function machine(files: string[], pythons: Record<string, string>, servers: string[] = []): Machine {
  return {
    exists: (file) => Promise.resolve(files.includes(file)),
    pythonVersion: (python) => Promise.resolve(pythons[python]),
    hasServer: (python) => Promise.resolve(servers.includes(python)),
  };
}

const wishes: Wishes = { path: "", interpreter: undefined, privatePython: "/private/python", basePythons: ["python3"], trusted: true };

test("the setting comes first", async () => {
  const launch = await decideLaunch({ ...wishes, path: "/bin/energy-lsp", interpreter: "/venv/python" }, machine(["/bin/energy-lsp"], {}, ["/venv/python"]));
  assert.deepEqual(launch, { kind: "run", command: "/bin/energy-lsp", args: ["serve"], origin: "setting" });
});

test("a setting that names nothing is a problem, not a silent fall-back", async () => {
  const launch = await decideLaunch({ ...wishes, path: "/gone" }, machine(["/private/python"], { python3: "3.12.0" }));
  assert.deepEqual(launch, { kind: "problem", problem: "wrong-path", detail: "/gone" });
});

test("then the chosen interpreter, when it has the server", async () => {
  const launch = await decideLaunch({ ...wishes, interpreter: "/venv/python" }, machine(["/private/python"], {}, ["/venv/python"]));
  assert.deepEqual(launch, { kind: "run", command: "/venv/python", args: ["-m", "energy_lsp", "serve"], origin: "interpreter" });
});

test("then the private environment", async () => {
  const launch = await decideLaunch({ ...wishes, interpreter: "/venv/python" }, machine(["/private/python"], {}));
  assert.equal(launch.kind === "run" && launch.origin, "private");
});

test("a restricted workspace runs neither the setting's command nor the workspace's interpreter", async () => {
  const restricted = { ...wishes, trusted: false, path: "/evil", interpreter: "/evil/python" };
  const with_private = await decideLaunch(restricted, machine(["/evil", "/private/python"], {}, ["/evil/python"]));
  assert.equal(with_private.kind === "run" && with_private.command, "/private/python");
  const without = await decideLaunch(restricted, machine(["/evil"], { "/evil/python": "3.12.0", python3: "3.11.2" }, ["/evil/python"]));
  assert.deepEqual(without, { kind: "install", python: "python3" });
});

test("nothing installed: the first Python that is new enough would make the environment", async () => {
  const launch = await decideLaunch({ ...wishes, basePythons: ["python3", "python3.12"] }, machine([], { python3: "3.9.2", "python3.12": "3.12.1" }));
  assert.deepEqual(launch, { kind: "install", python: "python3.12" });
});

test("no Python and too old a Python are distinguished", async () => {
  assert.equal((await decideLaunch(wishes, machine([], {}))).kind === "problem", true);
  const none = await decideLaunch(wishes, machine([], {}));
  assert.equal(none.kind === "problem" && none.problem, "no-python");
  const old = await decideLaunch(wishes, machine([], { python3: "3.8.18" }));
  assert.deepEqual(old, { kind: "problem", problem: "old-python", detail: "python3 is Python 3.8.18" });
});

test("versions are compared as numbers", () => {
  assert.deepEqual(["3.9.20", "3.10.0", "3.13.0rc1", "4.0", "2.7"].map(isNewEnough), [false, true, true, true, false]);
});

test("a call that hangs is not waited for", async () => {
  const hanging = new Promise<number>((resolve) => setTimeout(resolve, 200, 1));
  assert.equal(await withinTime(hanging, 10), undefined);
  assert.equal(await withinTime(Promise.resolve(3), 1000), 3);
  assert.equal(await withinTime(Promise.reject<number>(new Error("no")), 1000), undefined);
});
