/** What went wrong when the private environment was made, in words that say what to do. Pure: tested in plain Node. */

const advice: readonly [RegExp, string][] = [
  [/ensurepip is not\s+available|No module named '?(venv|ensurepip|pip)\b/, "this Python cannot make virtual environments. Install its venv package{package}, then try again."],
  [/No space left on device/, "the disk is full. Make room, then try again."],
  [
    /NewConnectionError|Failed to establish a new connection|name resolution|ConnectTimeout|ProxyError|SSLError|Max retries exceeded|No matching distribution found/,
    "the packages that it needs could not be downloaded. Check the connection and pip's settings (proxy, index) and try again, or name an energy-lsp that is installed already in the settings.",
  ],
];

/** A sentence for what `venv` or `pip` printed before it gave up. */
export function installAdvice(output: string): string {
  const known = advice.find(([pattern]) => pattern.test(output));
  if (known !== undefined) {
    const debian = /apt(?:-get)? install (\S+)/.exec(output)?.[1];
    return known[1].replace("{package}", debian === undefined ? "" : ` (apt install ${debian})`);
  }
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  const said = lines.findLast((line) => line.startsWith("ERROR:")) ?? lines.findLast((line) => line !== "") ?? "no reason was given";
  return `${said.replace(/^ERROR:\s*/, "").replace(/\.$/, "")}. The log says more.`;
}
