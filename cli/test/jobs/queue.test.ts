import type { JobRow } from "@resontech/contracts/http-jobs";
import t from "tap";
import { inLine } from "../../src/jobs/queue.ts";

const job = (id: string, state: JobRow["state"]): JobRow => ({
  ...{ id, name: id, projectId: "p_1", owner: "ada", kind: "federation", state, since: "" },
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
    inLine(newestFirst).map(({ place, job: { id } }) => [place, id]),
    [
      [1, "b"],
      [2, "d"],
      [null, "a"],
      [null, "c"],
    ],
  );
});
