import t from "tap";
import { nextInstant, readCalendar } from "../../../src/schedules/decisions/calendar.ts";

/** The next times of a calendar, as its own clocks show them. */
function nextOf(cron: string, timeZone: string, after: string, count = 1): string[] {
  const calendar = readCalendar(cron, timeZone);
  let at = Temporal.Instant.from(after).epochMilliseconds;
  return Array.from({ length: count }, () => {
    const next = nextInstant(calendar, at);
    at = next;
    return new Date(next).toISOString().replace(":00.000Z", "Z");
  });
}

t.test("a calendar has the times of its fields, in order, each after the last", async (t) => {
  t.same(nextOf("*/30 3 * * *", "UTC", "2026-11-30T02:00:00Z", 3), [
    "2026-11-30T03:00Z",
    "2026-11-30T03:30Z",
    "2026-12-01T03:00Z",
  ]);
  t.same(nextOf("0 3 * * *", "UTC", "2026-11-30T03:00:00Z"), ["2026-12-01T03:00Z"], "never itself");
  t.same(nextOf("15 8 * * mon-fri", "UTC", "2026-11-27T09:00:00Z", 2), [
    "2026-11-30T08:15Z",
    "2026-12-01T08:15Z",
  ]);
  t.same(nextOf("0 0 * * 7", "UTC", "2026-11-30T00:00:00Z"), ["2026-12-06T00:00Z"], "7 is Sunday");
});

t.test("where both fields name days, either will do", async (t) => {
  t.same(nextOf("0 0 13 * fri", "UTC", "2026-11-30T00:00:00Z", 3), [
    "2026-12-04T00:00Z",
    "2026-12-11T00:00Z",
    "2026-12-13T00:00Z",
  ]);
});

t.test("times are those of the zone's own clocks", async (t) => {
  t.same(nextOf("0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
    "2026-10-25T02:00Z",
    "2026-10-26T02:00Z",
  ]);
  t.same(nextOf("0 3 * * *", "Asia/Kolkata", "2026-11-30T00:00:00Z"), ["2026-11-30T21:30Z"]);
});

t.test(
  "a time that a clock change leaves out comes later, and one that comes twice once",
  async (t) => {
    t.same(nextOf("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2), [
      "2026-03-29T01:30Z",
      "2026-03-30T00:30Z",
    ]);
    t.same(nextOf("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2), [
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
  },
);

t.test("rare days are found", async (t) => {
  t.same(nextOf("0 0 29 2 *", "UTC", "2026-11-30T00:00:00Z"), ["2028-02-29T00:00Z"]);
  t.same(nextOf("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"), ["2104-02-29T00:00Z"]);
});

t.test("what is no calendar is refused with what is wrong", async (t) => {
  const refuse = (cron: string, zone: string, message: RegExp) =>
    t.throws(() => readCalendar(cron, zone), { name: "CalendarInvalid", message }, cron);
  for (const cron of ["* * * *", "0 0 3 * * *", ""]) refuse(cron, "UTC", /5 fields/);
  for (const cron of [
    "60 * * * *",
    "0 24 * * *",
    "0 0 0 * *",
    "0 0 * 13 *",
    "0 0 30 2 *",
    "x * * * *",
  ])
    refuse(cron, "UTC", /./);
  for (const cron of ["0-9999999 * * * *", "*/100 * * * *"]) refuse(cron, "UTC", /three digits/);
  for (const cron of ["0 0 L * *", "0 0 * * 1#2"]) refuse(cron, "UTC", /numbers and names/);
  refuse("0 0 * * *", "Mars/Olympus", /time zone Mars/);
});
