// The interpreter is the line in the file CHOSEN_INTERPRETER names; an empty file makes the API hang, as the real one may.
const fs = require("node:fs");
const vscode = require("vscode");

exports.activate = (context) => {
  const file = process.env.CHOSEN_INTERPRETER;
  const chosen = () => fs.readFileSync(file, "utf8").trim();
  const changed = new vscode.EventEmitter();
  fs.watchFile(file, { interval: 200 }, () => changed.fire({ path: chosen() }));
  context.subscriptions.push({ dispose: () => fs.unwatchFile(file) });
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: chosen(), path: chosen() }),
      resolveEnvironment: ({ path }) => (path === "" ? new Promise(() => {}) : Promise.resolve({ executable: { uri: vscode.Uri.file(path) } })),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
