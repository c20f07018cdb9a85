/** Figure 8: when a tab that is live and unused is signed out, and who may open a connection. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LiveClient } from "@resontech/coordinator/testing/live-client";
import { DashboardHouse } from "@resontech/dashboard/testing/dashboard-house";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";

const OFF_S = 30;
const MOST = { removedS: 300, backChannelS: 2 };

/** @param idleS of the configuration: 900 as it ships, or less and what that says */
export async function idleAndForeign(
  idleS: number,
  progress: (line: string) => void,
): Promise<Figure> {
  await using house = await DashboardHouse.open(idleS);
  const ada = await house.addUser("ada");
  const context = await house.windowOf(ada.userId);
  const page = await context.newPage();
  const from = performance.now();
  await visit(page, `${house.running.url}/dashboard/jobs`);
  await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
  progress(`a live tab without input, signed out after ${idleS} s`);
  await page.getByText("Your session has ended").waitFor({ timeout: (idleS + 2 * OFF_S) * 1_000 });
  const outS = (performance.now() - from) / 1_000;

  const session = await house.running.signedIn(ada.userId);
  let refused = 0;
  const origins = ["https://elsewhere.example", "null", "https://localhost", "http://localhost"];
  for (const origin of origins)
    await LiveClient.open(house.running.url, house.running.caPem, {
      cookie: session["cookie"]!,
      origin,
    }).then(
      (client) => client[Symbol.dispose](),
      (error: unknown) => (refused += String(error).includes("403") ? 1 : 0),
    );
  const record = JSON.parse(
    readFileSync(
      join(import.meta.dirname, "..", "..", "..", "docs", "proofs", "sign-in.json"),
      "utf8",
    ),
  ) as { date: string; figures: { back_channel_s: number; removed_local_s: number } };
  const { back_channel_s: backChannelS, removed_local_s: removedS } = record.figures;
  return {
    goal: "an idle live tab is signed out at 15 min ± 30 s; a removed person is out in at most 5 min, by back-channel in 2 s; 50 requests at expiry make one refresh; foreign origins are refused",
    measured: {
      ...{
        idle_limit_s: idleS,
        signed_out_after_s: rounded(outS),
        foreign_refused: `${refused} of ${origins.length}`,
      },
      by_proof_sign_in: `of ${record.date}: back-channel ${backChannelS} s, removed ${removedS} s`,
      one_refresh: "parts/coordinator/test/identity/person-sessions.engines.test.ts",
    },
    met:
      Math.abs(outS - idleS) <= OFF_S &&
      refused === origins.length &&
      backChannelS <= MOST.backChannelS &&
      removedS <= MOST.removedS,
  };
}
