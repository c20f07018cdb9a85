/** One scene: a training runs, somebody asks for its workers by right, it ends its round, lets go, and goes on once they are free. */
import { untilFound } from "@resontech/house/until-found";
import { isAsItMust, LEAVING, LEFT, type MadeWay } from "./made-way.ts";
import type { Played, Stage } from "./stage.ts";
import type { Submitter } from "./submitter.ts";

/** The victim has something to go on from by then, and much is left. */
const ASKED_AFTER_ROUND = 2;
const COMMITTED_MS = 180_000;
const TRAINED_MS = 300_000;

/**
 * @property by who asks
 * @property whom as the victim's page names whoever it makes way for
 */
export type MakeWayScene = {
  name: string;
  victim: string;
  by: Submitter;
  ask: () => Promise<string>;
  whom: string;
  reason: string;
};

export async function makeWay(
  { rows, ada, pages, progress }: Stage,
  { name, victim, by, ask, whom, reason }: MakeWayScene,
): Promise<Played> {
  await untilFound(
    `round ${ASKED_AFTER_ROUND} of ${victim} to be stored`,
    () => (rows.committed(victim) ?? -1) >= ASKED_AFTER_ROUND,
    COMMITTED_MS,
  );
  await pages.openJob(victim);
  await pages.sees(/It runs on 2 sites/);
  const askedAt = Date.now();
  const asker = await ask();
  const leaving = await pages.sees(LEAVING);
  await pages.picture(`${name}-makes-way`);
  progress(`  the page: ${leaving}`);
  const isOnQueue = await seesItLetGo(pages, () => ada.task(victim));

  await ada.untilState(victim, "QUEUED");
  const lastRound = rows.committed(victim) ?? -1;
  await by.untilState(asker, "RUNNING");
  await pages.openJob(victim);
  const left = await pages.sees(LEFT);
  const expected = await pages.seesFact("Expected back");
  await pages.picture(`${name}-waits`);
  progress(`  the page: ${left} ${expected}`);
  await pages.openQueue();
  const row = await pages.seesRow("Waiting jobs", name);
  await pages.picture(`${name}-queue`);
  const place = await ada.inQueue(victim);

  await by.untilFinished(asker);
  progress("  the asking job is done; the training goes on");
  await ada.untilState(victim, "RUNNING");
  const ended = await ada.untilFinished(victim, TRAINED_MS);
  const seen: MadeWay = {
    ...{ decisions: rows.decisions(victim), lastRound, beginnings: rows.beginnings(victim) },
    ...{ begunTwice: rows.begunTwice(victim), retriesSpent: rows.retriesSpent(victim) },
    ...{ said: { leaving, left, queue: row }, expectedStart: place?.expectedStart ?? null },
  };
  return {
    isGood: ended.detail.attempt === 2 && isAsItMust(seen, { asker, reason, whom }),
    figures: {
      decided_s: seconds((seen.decisions[0]?.decidedAt ?? Number.NaN) - askedAt),
      first_container_s: seconds(rows.firstRunAt(asker) - askedAt),
      left_after_round: lastRound,
      went_on_in_round: seen.beginnings.at(-1),
      rounds_lost: seen.begunTwice.length,
      retries_spent: seen.retriesSpent,
      attempts: ended.detail.attempt,
      said: { ...seen.said, expected },
      queue_said_lets_go: isOnQueue,
    },
  };
}

/** Looks at the queue anew until it says so, or the job has let go. */
async function seesItLetGo(
  pages: Stage["pages"],
  look: () => ReturnType<Submitter["task"]>,
): Promise<boolean> {
  while ((await look()).detail.state === "PREEMPTING") {
    await pages.openQueue();
    const table = pages.page.getByRole("table", { name: "Who holds workers" });
    await table.waitFor();
    if ((await table.innerText()).includes("Lets go now")) return true;
  }
  return false;
}

function seconds(ms: number): number {
  return Number((ms / 1_000).toFixed(2));
}
