import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

const advisory = { id: 1, url: "https://github.com/advisories/GHSA-x", title: "a hole", severity: "high", vulnerable_versions: "*" };

/** Runs the audit with the real npm against a registry that answers like this; resolves with its exit code and what it said. */
async function audited(status: number, advisories: object): Promise<{ code: number | undefined; said: string }> {
  const registry = createServer((request, response) => {
    const code = request.method === "POST" ? status : 404; // it holds no packages, only advisories
    request.resume().on("end", () => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(advisories)));
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`, npm_config_fetch_retries: "0" };
  try {
    return await new Promise((resolve) => {
      const child = execFile(process.execPath, ["audit.mjs"], { env }, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? undefined, said: stdout + stderr });
      });
    });
  } finally {
    registry.close();
  }
}

test("the audit names every shipped package when nothing is known against any", async () => {
  const { code, said } = await audited(200, {});
  assert.equal(code, 0, said);
  assert.match(said, /knows nothing against what is shipped: .*minimatch \d.*uplot \d.*vscode-languageclient \d/);
});

test("the audit fails when something is known against a shipped package, and leaves out what is not shipped", async () => {
  const { code, said } = await audited(200, { minimatch: [advisory], eslint: [advisory] });
  assert.equal(code, 1, said);
  assert.match(said, /^minimatch \S+ \(high\): a hole https:\/\/github.com\/advisories\/GHSA-x$/m);
  assert.doesNotMatch(said, /eslint/);
});

test("a registry without an audit is named, and is no failure", async () => {
  const { code, said } = await audited(405, {});
  assert.equal(code, 0, said);
  assert.match(said, /^NOT AUDITED: .*405/);
});

test("the report's plotting library is the package that is audited, byte for byte", () => {
  for (const name of ["uPlot.iife.min.js", "uPlot.min.css"]) {
    assert.deepEqual(readFileSync(`../server/energy_lsp/report/assets/${name}`), readFileSync(`node_modules/uplot/dist/${name}`), name);
  }
});
