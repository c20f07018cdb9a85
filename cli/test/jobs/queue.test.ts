import type { JobRow } from "@resontech/contracts/http-jobs";
import t from "tap";
import { inLine } from "../../src/jobs/queue.ts";
import { startWords } from "../../src/jobs/start-words.ts";

const job = (id: string, state: JobRow["state"]): JobRow => ({
  ...{
    id,
    name: id,
    projectId: "p_1",
    owner: "ada",
    jobClass: "train",
    kind: "federation",
    state,
    since: "",
  },
  ...{
    reason: null,
    waitingFor: null,
    round: null,
    rounds: null,
    roundsDone: 0,
    attempt: 0,
    sites: 2,
  },
  ...{ createdAt: "", startedAt: null, endedAt: null },
});

t.test("who came first is first in line; who is held is in none", async (t) => {
  const newestFirst = [job("d", "QUEUED"), job("c", "HELD"), job("b", "QUEUED"), job("a", "HELD")];
  t.same(
    inLine(newestFirst, () => 0).map(({ place, job: { id } }) => [place, id]),
    [
      [1, "b"],
      [2, "d"],
      [null, "a"],
      [null, "c"],
    ],
  );
});

t.test("who was held for others stands where the hold ended", async (t) => {
  const lines = new Map([
    ["a", 9],
    ["b", 2],
  ]);
  const newestFirst = [job("d", "QUEUED"), job("b", "QUEUED"), job("a", "QUEUED")];
  const waiting = inLine(newestFirst, (id) => lines.get(id) ?? Infinity);
  t.same(
    waiting.map(({ job: { id } }) => id),
    ["b", "a", "d"],
    "one that the queue does not know yet stands last",
  );
});

t.test("a start is told as a span from now, or with why nobody knows it", async (t) => {
  const now = Date.parse("2026-11-30T12:00:00.000Z");
  const at = (expectedStart: string) => startWords({ expectedStart, noStart: null }, now);
  t.equal(at("2026-11-30T12:30:00.000Z"), "in 30 min");
  t.equal(at("2026-11-30T11:59:00.000Z"), "now");
  t.match(startWords({ expectedStart: null, noStart: "never-fits" }, now), /^never/);
  t.match(startWords({ expectedStart: null, noStart: "no-end-stated" }, now), /no time limit/);
  t.equal(startWords(undefined, now), "");
});
