import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { installAdvice } from "../src/server/installAdvice";
import { Notices } from "../src/messages/notices";

const hour = 3_600_000;
const folder = (): string => path.join(mkdtempSync(path.join(tmpdir(), "energy-notices-")), "told");

test("of windows that start together one tells a problem, and each problem has its own turn", async () => {
  const shared = folder();
  const now = Date.now();
  const windows = Array.from({ length: 8 }, () => new Notices(shared));
  const claims = await Promise.all(windows.map((window) => window.claim("no-python", now)));
  assert.equal(claims.filter(Boolean).length, 1);
  assert.equal(await new Notices(shared).claim("crashed", now), true);
});

test("a problem is told again the next day, or when it is news", async () => {
  const notices = new Notices(folder());
  const now = Date.now();
  assert.equal(await notices.claim("crashed", now), true);
  assert.equal(await notices.claim("crashed", now + hour), false);
  assert.equal(await notices.claim("crashed", now + 25 * hour), true);
  assert.equal(await notices.claim("crashed", now + 26 * hour), false);
  await notices.forget(["crashed", "old-python"]);
  assert.equal(await notices.claim("crashed", now + 26 * hour), true);
});

test("without a place to remember a problem is still told", async () => {
  const file = folder();
  writeFileSync(file, "not a folder");
  assert.equal(await new Notices(file).claim("crashed", Date.now()), true);
});

test("a failed install says what to do", () => {
  const debian = "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu systems, you need to install the python3-venv\npackage\n\n    apt install python3.11-venv\n\nFailing command: /x/bin/python3";
  assert.equal(installAdvice(debian), "this Python cannot make virtual environments. Install its venv package (apt install python3.11-venv), then try again.");
  assert.match(installAdvice("/usr/bin/python3: No module named venv"), /Install its venv package, then/);
  assert.match(installAdvice("WARNING: Retrying ... NewConnectionError(...)\nERROR: No matching distribution found for pygls>=2"), /Check the connection and pip's settings .* or name an energy-lsp/);
  assert.match(installAdvice("OSError: [Errno 28] No space left on device"), /disk is full/);
  assert.equal(installAdvice("Collecting x\nERROR: Wheel is broken.\n\n[notice] new release"), "Wheel is broken. The log says more.");
  assert.equal(installAdvice(""), "no reason was given. The log says more.");
});
