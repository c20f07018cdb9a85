/** One scene: the node is reserved for a project. Before it begins only what ends in time starts, then only the project's own, and guests make way. */
import { Announced } from "./announced.ts";
import { AHEAD_MS, SHORT_MIN, STAYS_MS } from "./announced-times.ts";
import type { Stage } from "./stage.ts";

/** Longer than it takes until the owner asks. */
const GUEST_S = 25;

export async function keepReserved(
  { appliance, rows, ada, bert, pages, progress }: Stage,
  node: string,
) {
  const now = Date.now();
  await using reservation = await Announced.make(appliance, {
    ...{ project: bert.project, node, reason: "a deadline" },
    ...{ from: now + AHEAD_MS, until: now + AHEAD_MS + STAYS_MS },
  });
  const openEnded = await ada.wait("open-ended", 1);
  const before = await ada.untilWaitingFor(openEnded, /reserved for another project from/);
  await pages.openJob(openEnded);
  const onPage = await pages.sees(/reserved for another project from/i);
  await pages.picture("reservation-job");
  await pages.openQueue();
  const onCalendar = await pages.seesRow("Maintenance and reservations", "Reserved for");
  await pages.picture("reservation-queue");
  progress(`  the page: ${onPage} ${onCalendar}`);

  const endsBefore = await ada.wait("ends-before", 1, { timeLimitMinutes: SHORT_MIN });
  await ada.untilFinished(endsBefore);
  await bert.untilFinished(await bert.wait("own", 1));
  const hasWaited = (await ada.task(openEnded)).detail.state === "QUEUED";

  progress("  a guest runs when it begins, and its project asks");
  const guest = await ada.wait("guest", GUEST_S, {
    ...{ timeLimitMinutes: SHORT_MIN, workersPerMember: 2 },
  });
  await ada.untilState(guest, "RUNNING");
  await reservation.move({ from: Date.now() });
  const askedAt = Date.now();
  const owners = await bert.wait("own-now", 1);
  await bert.untilFinished(owners);
  const during = await ada.untilWaitingFor(openEnded, /reserved for another project until/);
  const isGuestBack = (await ada.task(guest)).detail.state === "QUEUED";
  await pages.openJob(guest);
  const leftAs = await pages.sees(/It made way for another project\. It begins anew\./);
  await pages.picture("reservation-guest");
  await reservation.callOff();
  await ada.untilFinished(openEnded);
  await ada.untilFinished(guest);
  return {
    isGood:
      hasWaited &&
      isGuestBack &&
      rows.decisions(guest).length === 1 &&
      rows.decisions(guest)[0]?.asker === owners &&
      rows.retriesSpent(guest) === 0 &&
      onCalendar.includes("another project"),
    figures: {
      owners_first_container_s: Number(((rows.firstRunAt(owners) - askedAt) / 1_000).toFixed(2)),
      open_ended_waited_while_others_ran: hasWaited,
      guests_retries_spent: rows.retriesSpent(guest),
      said: { before, onPage, onCalendar, during, guest: leftAs },
    },
  };
}
