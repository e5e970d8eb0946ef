// Builds the extension and asks the registry whether anything is known against what it ships (`npm audit --omit=dev`).
// Exits with 1 when something is known. A registry that offers no audit (many mirrors) is named, and does not fail the build.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { metafile } from "./esbuild.mjs";

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const audited = new Map(Object.entries(packages).filter(([place, { dev }]) => place !== "" && !dev).map(([place, { version }]) => [nameIn(place), version]));
const missed = Object.keys(metafile.inputs).map(nameIn).filter((name) => name !== undefined && !audited.has(name));
if (missed.length > 0) throw new Error(`bundled, but left out by \`npm audit --omit=dev\`: ${[...new Set(missed)].join(", ")}`);

const answer = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8", shell: process.platform === "win32" });
const report = JSON.parse(answer.stdout || "{}");
const shipped = [...audited].map(([name, version]) => `${name} ${version}`).join(", ");
if (report.vulnerabilities === undefined) {
  const reason = report.message || report.error?.summary || answer.stderr.trim() || "npm gave no reason";
  console.log(`NOT AUDITED: the registry could not be asked (${reason}).\nBefore a release, run this where npm audit works. Shipped: ${shipped}.`);
} else if (Object.keys(report.vulnerabilities).length === 0) {
  console.log(`npm audit knows nothing against what is shipped: ${shipped}.`);
} else {
  for (const { name, severity, via } of Object.values(report.vulnerabilities)) {
    const causes = via.map((cause) => (typeof cause === "string" ? `through ${cause}` : `${cause.title} ${cause.url}`));
    console.error(`${name} ${audited.get(name)} (${severity}): ${causes.join("; ")}`);
  }
  process.exitCode = 1;
}

/** The package of a file or folder under node_modules. */
function nameIn(place) {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place)?.[1];
}
