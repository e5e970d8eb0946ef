// Bundles the extension into dist/extension.js; with --tests the unit tests into dist/test/.
import { build } from "esbuild";
import { readdirSync } from "node:fs";

const common = { bundle: true, platform: "node", format: "cjs", target: "node20", external: ["vscode"], logLevel: "warning", metafile: true };
const tests = () => readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);

/** What went into the bundle. */
export const { metafile } = process.argv.includes("--tests")
  ? await build({ ...common, entryPoints: tests(), outdir: "dist/test" })
  : await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: true });
