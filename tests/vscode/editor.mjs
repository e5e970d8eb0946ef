// A real VS Code with our .vsix in it, in a folder of its own, driven through Chromium.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(path.join(root, "client-vscode/package.json"))("playwright-core");
const entry = path.join(root, ".cache/vscode/node_modules/code-server/out/node/entry.js");
const vsix = path.join(root, "client-vscode/energy-lsp.vsix");
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Opens the editor on a copy of the given files. `options`: files, settings, trusted, env. */
export async function openEditor(options) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "energy-editor-"));
  const folder = path.join(home, "project");
  fs.mkdirSync(folder);
  for (const [name, content] of Object.entries(options.files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  }
  const user = path.join(home, "user");
  fs.mkdirSync(path.join(user, "User"), { recursive: true });
  fs.writeFileSync(path.join(user, "User/settings.json"), JSON.stringify({ ...calm, ...options.settings }));
  const places = ["--extensions-dir", path.join(home, "extensions"), "--user-data-dir", user];
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: path.join(home, "data"), XDG_CACHE_HOME: path.join(home, "cache"), ...options.env };
  const installed = spawnSync(process.execPath, [entry, ...places, "--install-extension", vsix], { env, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`the extension could not be installed:\n${installed.stdout}${installed.stderr}`);
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

/** Nothing that moves or pops up by itself. */
const calm = {
  "workbench.startupEditor": "none",
  "security.workspace.trust.startupPrompt": "never",
  "editor.hover.delay": 100,
  "workbench.tips.enabled": false,
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
    await this.palette("Control+P");
    await this.page.keyboard.type(name, { delay: 10 });
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(name) }).first().waitFor({ timeout: 20_000 });
    await this.page.keyboard.press("Enter");
    await this.page.locator(".tab.active", { hasText: path.basename(name) }).waitFor({ timeout: 20_000 });
    await this.page.locator(".view-line").first().waitFor({ timeout: 20_000 });
  }

  /** Opens the quick input with a key, wherever the focus is: a cell or a webview may take the first press. */
  async palette(key) {
    await until(
      async () => {
        await this.page.keyboard.press("Escape");
        await this.page.keyboard.press(key);
        return this.page.locator(".quick-input-widget:visible").waitFor({ timeout: 2000 }).then(() => true);
      },
      20_000,
      () => `${key} opens nothing`,
    );
  }

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.palette("F1");
    await this.page.keyboard.type(title, { delay: 5 });
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor({ timeout: 20_000 });
    await this.page.keyboard.press("Enter");
  }

  /** Puts the cursor at the end of the first such text in a file's saved content. */
  async goTo(name, text) {
    const lines = this.read(name).split("\n");
    const line = lines.findIndex((candidate) => candidate.includes(text));
    await this.palette("Control+G");
    await this.page.keyboard.type(`${line + 1}:${lines[line].indexOf(text) + text.length - 1}`);
    await this.page.keyboard.press("Enter");
    await this.page.waitForTimeout(300);
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

  notifications() {
    return this.page.locator(".notification-toast");
  }

  async dismissNotifications() {
    await this.command("Notifications: Clear All Notifications");
  }

  async screenshot(name) {
    const target = process.env.SCREENSHOTS ?? path.join(root, ".cache/vscode/screenshots");
    fs.mkdirSync(target, { recursive: true });
    const file = path.join(target, `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
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
