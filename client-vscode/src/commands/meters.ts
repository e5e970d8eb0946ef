/** The meters of this machine, as a page. */
import { metersPage } from "../format/figures";
import { warnNotRunning } from "../messages/refusals";
import type { Pages } from "../views/pages";
import { serverCommands } from "../server/protocol";
import type { Meters } from "../server/protocol";
import type { Server } from "../server/lifecycle";

export async function showMeters(server: Server, pages: Pages): Promise<void> {
  const meters = await server.execute<Meters>(serverCommands.meters);
  if (meters === undefined) {
    await warnNotRunning("There are no meters to show");
    return;
  }
  await pages.show("Energy Meters", metersPage(meters));
}
