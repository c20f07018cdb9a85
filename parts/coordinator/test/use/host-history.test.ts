/** What is asked of Prometheus, and whose answer is told of which disk; a real one answers in `use-curves.engines.test.ts`. */
import { factsOfHost } from "@resontech/house/facts-of-host";
import t from "tap";
import { HostHistory } from "../../src/use/host-history.ts";

const GIB = 1024 ** 3;
const HOUR_S = 3_600;
const NOW_S = 1_000 * HOUR_S;
const disk = (holds: string) => ({
  ...{ holds, totalBytes: 100 * GIB, freeBytes: 50 * GIB, totalInodes: 1, freeInodes: 1 },
});
/** A look an hour over a day, to now. @param perHour bytes that go */
const past = (holds: string, perHour: number) => ({
  metric: { __name__: "resontech_disk_free_bytes", holds, instance: "appliance" },
  values: Array.from(
    { length: 25 },
    (_, hour) => [NOW_S - (24 - hour) * HOUR_S, String(50 * GIB + (24 - hour) * perHour)] as const,
  ),
});

t.test("each disk of the host has its own past, and one without a past no forecast", async (t) => {
  const asked: string[] = [];
  const told = [past("objects", GIB), past("logs", 0), past("of before", 9 * GIB)];
  const history = new HostHistory(
    {
      range: async (query) => {
        asked.push(query);
        return told;
      },
    },
    () =>
      factsOfHost({
        disks: [disk("logs"), { ...disk("objects"), refusesBelowBytes: 26 * GIB }, disk("new")],
      }),
    () => NOW_S * 1_000,
  );
  const { disks } = await history.disks();
  t.same(asked, ["resontech_disk_free_bytes"]);
  t.match(disks, [
    { holds: "logs", bytesPerDay: 0, fillsAt: null, seenS: 24 * HOUR_S },
    { holds: "objects", fillsAt: new Date((NOW_S + 24 * HOUR_S) * 1_000).toISOString() },
    { holds: "new", bytesPerDay: null, fillsAt: null, seenS: 0 },
  ]);
  t.equal(disks.length, 3, "a disk that is gone is told no more");
});

t.test("alerts are asked for so that none between two points is missed", async (t) => {
  const asked: { query: string; stepS: number; toS: number }[] = [];
  const history = new HostHistory(
    {
      range: async (query, { stepS, toS }) => {
        asked.push({ query, stepS, toS });
        return [];
      },
    },
    () => null,
    () => NOW_S * 1_000,
  );
  const { withinS, keptDays } = await history.alerts();
  const [one] = asked;
  t.equal(one?.query, `max_over_time(ALERTS{alertstate="firing"}[${one?.stepS}s])`);
  t.equal(one?.toS, NOW_S, "to now");
  t.same([withinS, keptDays], [one?.stepS, 15]);
});
