// A real VS Code with our .vsix in it, in a folder of its own, driven through Chromium.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(path.join(root, "client-vscode/package.json"))("playwright-core");
const cache = path.join(root, ".cache/vscode");
const entry = path.join(cache, "node_modules/code-server/out/node/entry.js");
const vsix = path.join(root, "client-vscode/energy-lsp.vsix");
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Opens the editor on a copy of the given files. `options`: files (or a function of the folder), links (names of the folder to other places), settings, trusted, env, extensions (further .vsix files). */
export async function openEditor(options) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "energy-editor-"));
  const folder = path.join(home, "project");
  fs.mkdirSync(folder);
  const contents = typeof options.files === "function" ? options.files(folder) : options.files;
  for (const [name, content] of Object.entries(contents)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  }
  for (const [name, place] of Object.entries(options.links ?? {})) fs.symlinkSync(place, path.join(folder, name));
  const user = path.join(home, "user");
  // The user's settings, and those of the machine that serves the editor: a setting that names a program belongs to the machine.
  for (const scope of ["User", "Machine"]) {
    fs.mkdirSync(path.join(user, scope), { recursive: true });
    fs.writeFileSync(path.join(user, scope, "settings.json"), JSON.stringify({ ...calm, ...options.settings }));
  }
  const places = ["--extensions-dir", installed([vsix, ...(options.extensions ?? [])]), "--user-data-dir", user];
  const host = path.join(home, "host"); // the lock of a host of its own: measurements of others on this machine are not waited for
  fs.mkdirSync(host, { recursive: true });
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: path.join(home, "data"), XDG_CACHE_HOME: path.join(home, "cache"), ENERGY_LSP_LOCK_FOLDER: host, ...options.env };
  const port = await freePort();
  const trust = options.trusted === false ? [] : ["--disable-workspace-trust"];
  const args = [entry, ...places, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check", ...trust, folder];
  const server = spawn(process.execPath, args, { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (log += chunk));
  await until(() => /HTTP server listening/.test(log), 60_000, () => `code-server did not start:\n${log}`);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: quiet });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`);
  await page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
  const close = async () => {
    await browser.close();
    try {
      process.kill(-server.pid, "SIGTERM");
      await Promise.race([once(server, "exit"), new Promise((resolve) => setTimeout(resolve, 5000))]);
      process.kill(-server.pid, "SIGKILL");
    } catch {
      // it has ended by itself
    }
    fs.rmSync(home, { recursive: true, force: true });
  };
  return new Editor(page, folder, home, close);
}

/** A folder with these extensions installed, made once for their content: each editor has its own settings, not its own copy. */
function installed(extensions) {
  const hash = createHash("sha256");
  for (const file of extensions) hash.update(fs.readFileSync(file));
  const folder = path.join(cache, "extensions", hash.digest("hex").slice(0, 16));
  if (!fs.existsSync(folder)) {
    forgetOldInstalls();
    const fresh = fs.mkdtempSync(path.join(cache, "installing-"));
    const options = ["--extensions-dir", folder, "--user-data-dir", fresh, ...extensions.flatMap((file) => ["--install-extension", file])];
    const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...options], { encoding: "utf8" });
    fs.rmSync(fresh, { recursive: true });
    if (status !== 0) {
      fs.rmSync(folder, { recursive: true, force: true });
      throw new Error(`the extension could not be installed:\n${stdout}${stderr}`);
    }
  }
  return folder;
}

/** Every build is a new content: those of other days go. */
function forgetOldInstalls() {
  const all = path.join(cache, "extensions");
  fs.mkdirSync(all, { recursive: true });
  for (const name of fs.readdirSync(all)) {
    const old = path.join(all, name);
    if (Date.now() - fs.statSync(old).mtimeMs > 24 * 3600 * 1000) fs.rmSync(old, { recursive: true, force: true });
  }
}

/** Packs a folder as an extension. */
export function packed(folder, name) {
  const file = path.join(cache, `${name}.vsix`);
  const vsce = path.join(root, "client-vscode/node_modules/.bin/vsce");
  const { status, stderr } = spawnSync(vsce, ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", file], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${folder} could not be packed:\n${stderr}`);
  return file;
}

/** Nothing that moves or pops up by itself. */
const calm = {
  "workbench.startupEditor": "none",
  "security.workspace.trust.startupPrompt": "never",
  "editor.hover.delay": 100,
  "workbench.tips.enabled": false,
  "workbench.layoutControl.enabled": false,
  "chat.commandCenter.enabled": false,
  "telemetry.telemetryLevel": "off",
  "git.enabled": false,
  "extensions.ignoreRecommendations": true,
  "editor.minimap.enabled": false,
  "workbench.colorTheme": "Default Dark Modern",
};

class Editor {
  constructor(page, folder, home, close) {
    Object.assign(this, { page, folder, home, close });
  }

  /** The extension's own log, as text. */
  log() {
    return files(path.join(this.home, "user/logs"))
      .filter((name) => /energy-lsp/.test(name))
      .map((name) => fs.readFileSync(name, "utf8"))
      .join("\n");
  }

  read(name) {
    return fs.readFileSync(path.join(this.folder, name), "utf8");
  }

  async openFile(name) {
    await this.pick("Control+P", name, path.basename(name));
    await this.page.locator(".tab.active", { hasText: path.basename(name) }).waitFor({ timeout: 30_000 });
    await this.page.locator(".view-line").first().waitFor({ timeout: 30_000 });
  }

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.pick("F1", `>${title}`, title);
  }

  /** Opens the quick input with a key, writes into it and takes the entry that comes first; again when a late focus closes it. */
  async pick(key, text, entry) {
    const input = this.page.locator(".quick-input-widget:visible .quick-input-box input");
    await until(
      async () => {
        await this.palette(key);
        await input.fill(text, { timeout: 5000 });
        await this.page.locator(".quick-input-list .monaco-list-row.focused:visible", { hasText: entry }).waitFor({ timeout: 10_000 });
        await input.press("Enter", { timeout: 5000 });
        return true;
      },
      60_000,
      () => `${entry} is not offered`,
    );
  }

  /** Opens the quick input with a key, wherever the focus is: a cell or a webview may take the first press. */
  async palette(key) {
    await until(
      async () => {
        await this.page.keyboard.press("Escape");
        await this.page.keyboard.press(key);
        return this.page.locator(".quick-input-widget:visible").waitFor({ timeout: 2000 }).then(() => true);
      },
      30_000,
      () => `${key} opens nothing`,
    );
  }

  /** Takes an entry of the quick pick that is open or about to open; resolves with all that it says. */
  async choose(entry, patience = 120_000) {
    const row = this.page.locator(".quick-input-list .monaco-list-row:visible", { hasText: entry }).first();
    await row.waitFor({ timeout: patience });
    const text = await row.innerText();
    await row.click({ timeout: 20_000 });
    return text;
  }

  /** Another colour theme, by its name. */
  async theme(name) {
    const input = this.page.locator(".quick-input-widget:visible .quick-input-box input");
    await until(
      async () => {
        await this.page.keyboard.press("Escape");
        await this.page.keyboard.press("Control+K");
        await this.page.keyboard.press("Control+T");
        await input.fill(name, { timeout: 5000 });
        await this.page.locator(".quick-input-list .monaco-list-row.focused:visible", { hasText: name }).waitFor({ timeout: 5000 });
        await input.press("Enter", { timeout: 5000 });
        return true;
      },
      60_000,
      () => `the theme ${name} is not offered`,
    );
  }

  /** Takes a code action at the cursor, by keyboard. */
  async act(title) {
    const focused = this.page.locator(".action-widget .monaco-list-row.focused");
    await until(
      async () => {
        await this.page.keyboard.press("Control+.");
        await this.page.locator(".action-widget .monaco-list-row", { hasText: title }).first().waitFor({ timeout: 5000 });
        return true;
      },
      60_000,
      () => `there is no action ${title}`,
    );
    for (let steps = 0; steps < 20; steps += 1) {
      if ((await focused.innerText()).includes(title)) break;
      await this.page.keyboard.press("ArrowDown");
    }
    await this.page.keyboard.press("Enter");
  }

  /** Measures with a command of the palette, after what will run was shown; resolves with what was shown. */
  async measure(title, entry = "Measure once") {
    await this.command(title);
    return this.choose(entry);
  }

  /** Puts the cursor at the end of the first such text in a file's saved content. */
  async goTo(name, text) {
    const lines = this.read(name).split("\n");
    const line = lines.findIndex((candidate) => candidate.includes(text));
    await this.pick("Control+G", `:${line + 1}:${lines[line].indexOf(text) + text.length - 1}`, "Go to line");
    await this.waitForLine(line + 1);
  }

  async waitForLine(line) {
    const selection = this.page.locator('.statusbar-item[id="status.editor.selection"]');
    await until(async () => (await selection.innerText()).includes(`Ln ${line},`), 30_000, () => `the cursor does not get to line ${line}`);
  }

  /** A new window on the same folder; this one goes. */
  async reload() {
    await this.page.reload();
    await this.page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
  }

  /** Until the server has told what it knows of the file: joules, or that nothing was measured here. */
  async waitForEnergy(patience = 90_000) {
    await until(async () => /\d [kmµn]?(J|Wh)\b|no figures|no calls/.test(await this.status().innerText()), patience, () => `the status item says nothing of the file; log:\n${this.log()}`);
  }

  /** Command lines of the language servers of this editor, each beginning with its process id. */
  servers() {
    return this.processes(/energy[-_]lsp serve$/);
  }

  /** Command lines like this of processes that this editor has started, each beginning with its process id. */
  processes(pattern) {
    const all = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n").map((line) => line.trim());
    return all.filter((line) => pattern.test(line) && environmentOf(line.split(" ")[0]).includes(this.home));
  }

  /** The text of the hover on a word of the open editor; asked again until it fits. */
  async hover(word, fitting = /./, patience = 60_000) {
    let text = "";
    const target = this.page.locator(".view-line span > span", { hasText: word }).first();
    await until(
      async () => {
        await this.page.mouse.move(5, 5);
        await this.page.waitForTimeout(300);
        await target.hover({ timeout: 5000, force: true });
        await this.page.waitForTimeout(1200);
        const shown = this.page.locator(".monaco-hover:visible .hover-contents, .monaco-hover:visible .monaco-hover-content");
        text = (await shown.allInnerTexts()).join("\n");
        return fitting.test(text);
      },
      patience,
      () => `the hover on ${word} does not fit ${fitting}; it says:\n${text}\n--- log:\n${this.log().slice(-3000)}`,
    );
    return text;
  }

  status() {
    return this.page.locator('.statusbar-item[id="energy-lsp.energy-lsp.energyLsp.status"]');
  }

  /** Marks of the heat in the gutter. */
  heatMarks() {
    return this.page.locator('.glyph-margin-widgets [class*="ced-"]');
  }

  /** Whether the window has loaded a file whose address holds this text. */
  hasLoaded(text) {
    return this.page.evaluate((wanted) => performance.getEntriesByType("resource").some(({ name, responseEnd }) => name.includes(wanted) && responseEnd > 0), text);
  }

  notifications() {
    return this.page.locator(".notification-toast");
  }

  async dismissNotifications() {
    await this.command("Notifications: Clear All Notifications");
  }

  async screenshot(name) {
    const target = process.env.SCREENSHOTS ?? path.join(cache, "screenshots");
    fs.mkdirSync(target, { recursive: true });
    const file = path.join(target, `${name}.png`);
    await this.page.screenshot({ path: file, animations: "disabled" });
    return file;
  }
}

function environmentOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** Waits until something holds, or fails with a sentence. */
export async function until(holds, patience, complaint) {
  const end = Date.now() + patience;
  for (;;) {
    try {
      if (await holds()) return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    if (Date.now() > end) throw new Error(complaint());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function files(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((item) => {
    const full = path.join(folder, item.name);
    return item.isDirectory() ? files(full) : [full];
  });
}

async function freePort() {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}
