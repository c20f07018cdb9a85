import { join } from "node:path";
import t, { type Test } from "tap";
import { GroupCommit } from "../../../src/db/group-commit.ts";
import { openDatabase } from "../../../src/db/open-database.ts";
import { collect } from "../../../src/identity/keycloak-events/event-collector.ts";
import { RecordingAudit } from "../../helper/recording-audit.ts";

const START = Date.parse("2026-11-26T12:00:00Z");

/** Keycloak's streams as its admin API answers: the oldest first, from a time on, in pages. */
function opened(t: Test) {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  const commit = new GroupCommit(database.write);
  t.teardown(() => {
    commit.close();
    database[Symbol.dispose]();
  });
  const audit = new RecordingAudit();
  const happened: { id: string; time: number; type: string; operationType?: string }[] = [];
  const asked: number[] = [];
  let failsAt = Number.POSITIVE_INFINITY;
  const deps = {
    ...{ read: database.read, commit, record: audit.record, now: () => START + 10_000_000 },
    events: async (stream: string, from: number, first: number, max: number) => {
      if (stream !== "events") return [];
      if (first >= failsAt) throw new Error("keycloak is away");
      asked.push(from);
      return happened
        .filter(({ time }) => time >= from)
        .toSorted((a, b) => a.time - b.time)
        .slice(first, first + max);
    },
  };
  return {
    ...{ happened, asked, audit, collect: () => collect(deps) },
    failAt: (first: number) => (failsAt = first),
  };
}

const login = (id: string, time: number) => ({ id, time, type: "LOGIN" });

t.test(
  "all of a long absence is read in pages, once, though Keycloak ends in between",
  async (t) => {
    const { happened, audit, collect: read, failAt } = opened(t);
    for (let at = 0; at < 350; at += 1) happened.push(login(`e${at}`, START + at * 1_000));
    failAt(200);
    await t.rejects(read(), /away/);
    failAt(Number.POSITIVE_INFINITY);
    await read();
    await read();
    t.equal(audit.drafts.length, 350);
    t.match(audit.drafts[0], {
      ...{ type: "auth.idp.sign-in", phase: "observed" },
      detail: { at: "2026-11-26T12:00:00.000Z", lag_ms: 10_000_000 },
    });
  },
);

t.test("an event that is seen after a later one is not missed", async (t) => {
  const { happened, asked, audit, collect: read } = opened(t);
  happened.push(login("late", START + 30_000));
  await read();
  happened.push(login("slow", START));
  await read();
  t.same(
    audit.drafts.map(({ detail }) => detail && "at" in detail && detail.at),
    ["2026-11-26T12:00:30.000Z", "2026-11-26T12:00:00.000Z"],
  );
  happened.push(login("next", START + 600_000));
  await read();
  await read();
  t.equal(audit.drafts.length, 3);
  t.equal(asked.at(-1), START + 540_000, "what is older is read no more");
});
