/** One scene: maintenance of the node is announced, comes, and is over. What would run into it waits and says so, and starts at its end. */
import { Announced } from "./announced.ts";
import { AHEAD_MS, LONG_MIN, SHORT_MIN, STAYS_MS } from "./announced-times.ts";
import type { Stage } from "./stage.ts";

/** From the moment that it is moved to. */
const LASTS_MS = 30_000;
const NEEDED = /needed for maintenance from/;
const STARTS_MS = 180_000;
/** The calendar is looked at each second, and a container starts in some; a look without a cause comes each half minute. */
const STARTED_WITHIN_MS = 15_000;

export async function keepForMaintenance(
  { appliance, rows, ada, pages, progress }: Stage,
  node: string,
) {
  const now = Date.now();
  await using maintenance = await Announced.make(appliance, {
    ...{ project: null, node, reason: "new firmware" },
    ...{ from: now + AHEAD_MS, until: now + AHEAD_MS + STAYS_MS },
  });
  const long = await ada.wait("runs-into-it", 1, { timeLimitMinutes: LONG_MIN });
  const before = await ada.untilWaitingFor(long, NEEDED);
  const { wait } = await ada.placement(long);
  const inShell = await ada.shell("queue", long);
  await pages.openJob(long);
  const onPage = await pages.sees(/needed for maintenance from/i);
  await pages.picture("maintenance-job");
  await pages.openQueue();
  const onCalendar = await pages.seesRow("Maintenance and reservations", "new firmware");
  await pages.picture("maintenance-queue");
  progress(`  the page: ${onPage} ${onCalendar}`);
  const expectedAt = Date.parse((await ada.inQueue(long))?.expectedStart ?? "");

  const short = await ada.wait("ends-before-it", 1, { timeLimitMinutes: SHORT_MIN });
  await ada.untilFinished(short);
  const hasWaited = (await ada.task(long)).detail.state === "QUEUED";

  progress("  it begins now");
  const from = Date.now();
  const until = from + LASTS_MS;
  await maintenance.move({ from, until });
  const during = await ada.untilWaitingFor(long, /in maintenance until/);
  await ada.untilFinished(long, STARTS_MS);
  maintenance.isPast();
  const startedAt = rows.firstRunAt(long);
  return {
    isGood:
      hasWaited &&
      startedAt >= until &&
      startedAt - until < STARTED_WITHIN_MS &&
      NEEDED.test(inShell) &&
      wait?.excluded.some(({ why }) => NEEDED.test(why)) === true &&
      // The placement needs no moment of its own in what is expected.
      Math.abs(expectedAt - (now + AHEAD_MS + STAYS_MS)) < 60_000,
    figures: {
      first_container_s_after_its_end: Number(((startedAt - until) / 1_000).toFixed(2)),
      expected_s_from_announced_end: Math.round((expectedAt - (now + AHEAD_MS + STAYS_MS)) / 1_000),
      waited_while_a_short_one_ran: hasWaited,
      said: { before, onPage, onCalendar, during },
    },
  };
}
