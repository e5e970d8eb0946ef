// What people see when the server is not there yet: no Python, too old a Python, a first install.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { openEditor, root, until } from "./editor.mjs";

const files = { "train.py": "import tensorflow as tf\nx = tf.constant(1.0)\n" };
const node = path.dirname(process.execPath);

/** An environment whose PATH has no Python: only what code-server itself needs, and the given scripts. */
function environmentWithout() {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), "energy-bin-"));
  for (const tool of ["sh", "bash", "env", "uname", "cat", "sed", "grep", "dirname", "readlink", "which", "ps"]) {
    for (const place of ["/bin", "/usr/bin"]) {
      if (fs.existsSync(path.join(place, tool)) && !fs.existsSync(path.join(bin, tool))) fs.symlinkSync(path.join(place, tool), path.join(bin, tool));
    }
  }
  fs.symlinkSync(path.join(node, "node"), path.join(bin, "node"));
  // VSCODE_CLI: the editor is not to take a PATH from the login shell.
  return { bin, env: { PATH: bin, VSCODE_CLI: "1" } };
}

test("no Python: one message that says what to do, with a button", { timeout: 180_000 }, async () => {
  const editor = await openEditor({ files, env: environmentWithout().env });
  try {
    await editor.openFile("train.py");
    const toast = editor.notifications().filter({ hasText: "needs Python 3.10 or newer and found none" });
    await toast.waitFor({ timeout: 60_000 });
    assert.equal(await editor.notifications().filter({ hasText: "energy-lsp" }).count(), 1);
    await toast.locator(".monaco-button", { hasText: "Try Again" }).waitFor();
    await editor.screenshot("no-python");
    // A new window does not say it again, though it has met the same problem.
    await editor.reload();
    await editor.openFile("train.py");
    await until(() => editor.log().split("found none").length > 2, 60_000, () => editor.log());
    await editor.status().locator(".codicon-cloud-download").waitFor({ timeout: 30_000 });
    assert.equal(await editor.notifications().filter({ hasText: "needs Python" }).count(), 0);
  } finally {
    await editor.close();
  }
});

const debianWithoutVenv = `The virtual environment was not created successfully because ensurepip is not
available.  On Debian/Ubuntu systems, you need to install the python3-venv
package using the following command.

    apt install python3.11-venv`;

const unreachable = `[global]
index-url = http://127.0.0.1:9/simple
extra-index-url =
find-links =
retries = 0
`;

test("too old a Python, one that makes no environments, no network, then a good one: each message leads to the next step", { timeout: 300_000 }, async () => {
  const { bin, env } = environmentWithout();
  const pip = path.join(bin, "pip.conf");
  const python3 = (script) => fs.writeFileSync(path.join(bin, "python3"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const real = execFileSync(path.join(root, ".venv/bin/python"), ["-c", "import sys; print(sys._base_executable)"], { encoding: "utf8" }).trim();
  python3("echo 3.8.18");
  // pip's environment would outweigh its file, which the test changes on the way.
  const editor = await openEditor({ files, env: { ...env, PIP_CONFIG_FILE: pip, PIP_INDEX_URL: undefined, PIP_EXTRA_INDEX_URL: undefined, PIP_FIND_LINKS: undefined } });
  const message = (text) => editor.notifications().filter({ hasText: text });
  const press = async (text, button) => {
    await message(text).waitFor({ timeout: 90_000 });
    // A toast that is still sliding in may not feel the click; one that has felt it goes away.
    for (let tries = 0; tries < 3 && (await message(text).count()); tries++) {
      await message(text).locator(".monaco-button", { hasText: button }).click();
      await message(text).waitFor({ state: "hidden", timeout: 10_000 }).catch(() => undefined);
    }
  };
  try {
    await editor.openFile("train.py");
    await message("python3 is Python 3.8.18").waitFor({ timeout: 90_000 });

    python3(`case "$*" in *"-m venv"*) echo "${debianWithoutVenv}"; exit 1;; esac; exec ${real} "$@"`);
    await press("python3 is Python 3.8.18", "Try Again");
    await press("not installed yet", "Install");
    const failed = "cannot make virtual environments. Install its venv package (apt install python3.11-venv), then try again";
    await message(failed).locator(".monaco-button", { hasText: "Show Logs" }).waitFor({ timeout: 90_000 });
    assert.equal(await message("could not be installed").count(), 1);
    await message("Installing the energy-lsp server").waitFor({ state: "hidden", timeout: 30_000 });
    await editor.screenshot("install-failed");

    python3(`exec ${real} "$@"`);
    fs.writeFileSync(pip, unreachable);
    await press(failed, "Try Again");
    const offline = "could not be downloaded. Check the connection and pip's settings";
    await message(offline).locator(".monaco-button", { hasText: "Open Settings" }).waitFor({ timeout: 120_000 });

    fs.rmSync(pip);
    await press(offline, "Try Again");
    const installing = message("Installing the energy-lsp server");
    await installing.filter({ hasText: "installing the server" }).waitFor({ timeout: 90_000 });
    // The rest takes long and is shown in a restricted workspace; cancelled, it leaves nothing half done.
    await press("Installing the energy-lsp server", "Cancel");
    const environment = path.join(editor.home, "user/User/globalStorage/energy-lsp.energy-lsp");
    await until(() => fs.readdirSync(environment).every((name) => !name.startsWith("server-")), 60_000, () => "half an environment stays");
    assert.equal(await message("could not be installed").count(), 0);
  } finally {
    await editor.close();
  }
});
