/** Calibrating this machine, so that code that never ran has figures; offered once, after the first measurement. */
import * as vscode from "vscode";
import { folderTarget } from "./measure";
import type { Measuring } from "./measure";
import { warnRefused } from "../messages/refusals";
import { serverCommands } from "../server/protocol";
import type { Server } from "../server/lifecycle";

const offered = "calibrationOffered";

export async function calibrate(server: Server, measuring: Measuring): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  try {
    const prepared = folder === undefined ? undefined : await measuring.prepare(folderTarget(folder));
    if (folder === undefined || prepared !== undefined) {
      await choose(server, prepared?.python);
    }
  } catch (refusal) {
    await warnRefused(refusal);
  }
}

async function choose(server: Server, python: string | undefined): Promise<void> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: "$(watch) Calibrate quickly", description: "about one minute, wider intervals", quick: true },
      { label: "$(pulse) Calibrate", description: "about five minutes, best on a quiet machine", quick: false },
    ],
    { title: "Learn what TensorFlow and Keras cost on this machine", placeHolder: `Runs small programs of its own${python === undefined ? "" : ` with ${python}`}, nothing of yours` },
  );
  if (picked !== undefined) {
    await server.executeWithProgress(serverCommands.calibrate, { quick: picked.quick }, "Calibrating this machine");
    void vscode.window.showInformationMessage("Calibrated: hovers now predict what calls will cost that never ran.");
  }
}

/** Once for this user, not in every workspace. */
export async function offerCalibration(server: Server, measuring: Measuring, memory: vscode.Memento): Promise<void> {
  if (memory.get<boolean>(offered) === true) {
    return;
  }
  await memory.update(offered, true);
  const chosen = await vscode.window.showInformationMessage("Code that never ran can have figures too: calibrate this machine once, and hovers predict what calls will cost.", "Calibrate…", "Not Now");
  if (chosen === "Calibrate…") {
    await calibrate(server, measuring);
  }
}
