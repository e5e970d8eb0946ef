// Bundles the extension into dist/extension.js; with --tests the unit tests into dist/test/.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"], logLevel: "warning", metafile: true, supported: { "dynamic-import": false } };
const tests = () => readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);

/** The client library is most of the code and loads when the server starts: it is no part of what the editor waits for. */
const connectionApart = {
  name: "connection-apart",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/connection$/ }, ({ importer }) => (importer.includes("node_modules") ? undefined : { path: "./server/connection.js", external: true })),
};

/** What went into the bundles. */
export const { metafile } = process.argv.includes("--tests")
  ? await build({ ...common, entryPoints: tests(), outdir: "dist/test" })
  : await build({ ...common, entryPoints: ["src/extension.ts", "src/server/connection.ts"], outdir: "dist", minify: true, plugins: [connectionApart] });

const early = Object.keys(metafile.outputs["dist/extension.js"]?.inputs ?? {}).filter((file) => file.includes("node_modules"));
if (early.length > 0) throw new Error(`the editor would wait for a library at activation: ${early.join(", ")}`);

// The libraries' licences ask for their text to go along with the code.
const bundled = new Set(Object.keys(metafile.inputs).map((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter((folder) => folder !== undefined));
if (bundled.size > 0) writeFileSync("dist/licences.txt", [...bundled].sort().map(licence).join("\n\n"));

function licence(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence to go along with it`);
  return `${folder.replace(/.*node_modules\//, "")}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
}
