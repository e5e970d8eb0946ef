/** Calibrating this machine, so that code that never ran has figures; offered once, after the first measurement. */
import * as vscode from "vscode";
import { warnRefused } from "./messages";
import { serverCommands } from "../server/protocol";
import type { Server } from "../server/server";

const offered = "calibrationOffered";

export async function calibrate(server: Server): Promise<void> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: "$(watch) Calibrate quickly", description: "about one minute, wider intervals", quick: true },
      { label: "$(pulse) Calibrate", description: "about five minutes, best on a quiet machine", quick: false },
    ],
    { title: "Learn what TensorFlow and Keras cost on this machine", placeHolder: "Runs small programs of its own, nothing of yours" },
  );
  if (picked !== undefined) {
    await run(server, picked.quick);
  }
}

async function run(server: Server, quick: boolean): Promise<void> {
  try {
    await server.executeWithProgress(serverCommands.calibrate, { quick }, "Calibrating this machine");
    void vscode.window.showInformationMessage("Calibrated: hovers now predict what calls will cost that never ran.");
  } catch (refusal) {
    await warnRefused(refusal);
  }
}

/** Once for this user, not in every workspace. */
export async function offerCalibration(server: Server, memory: vscode.Memento): Promise<void> {
  if (memory.get<boolean>(offered) === true) {
    return;
  }
  await memory.update(offered, true);
  const chosen = await vscode.window.showInformationMessage("Code that never ran can have figures too: calibrate this machine once, and hovers predict what calls will cost.", "Calibrate…", "Not Now");
  if (chosen === "Calibrate…") {
    await calibrate(server);
  }
}
