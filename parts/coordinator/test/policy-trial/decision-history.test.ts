import { join } from "node:path";
import t, { type Test } from "tap";
import type { Action } from "../../src/authorization/actions.ts";
import { cedarPrincipalOf } from "../../src/authorization/cedar-principal.ts";
import { RecentDecisions } from "../../src/authorization/recent-decisions.ts";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { DecisionHistory, pageOfDecisions } from "../../src/policy-trial/decision-history.ts";
import { inProject, keyOf, sessionOf } from "../authorization/callers.ts";
import { signedIn } from "../authorization/cells.ts";

const DAY = 86_400_000;

function history(t: Test, maxKept = 100) {
  const database = openDatabase(join(t.testdir(), "c.db"));
  t.teardown(() => database[Symbol.dispose]());
  const recent = new RecentDecisions();
  const clock = { now: 100 * DAY };
  const kept = new DecisionHistory(
    {
      ...{ commit: new GroupCommit(database.write), recent, now: () => clock.now },
      onError: (error) => t.fail(String(error)),
    },
    { maxKept },
  );
  t.teardown(() => kept[Symbol.asyncDispose]());
  const rows = () =>
    database.read
      .prepare<[], { question: string; times: number }>(
        "SELECT question, times FROM decisions_seen",
      )
      .all();
  return { recent, clock, kept, rows, read: database.read };
}
const timesOf = (rows: readonly { times: number }[]) =>
  rows.map(({ times }) => times).sort((a, b) => a - b);
const key = cedarPrincipalOf(keyOf(), { now: 0 });

t.test("each kind of question is kept once, with how often, and names nobody", async (t) => {
  const { recent, kept, rows } = history(t);
  const mine = { userId: "u1", projectId: "p1" };
  recent.note(key, "job.read", mine);
  recent.note(
    cedarPrincipalOf({ ...keyOf(), userId: "u7", projectId: "p7" }, { now: 5 }),
    "job.read",
    {
      ...{ userId: "u7", projectId: "p7" },
    },
  );
  recent.note(key, "job.read", { userId: "u2", projectId: "p2" });
  recent.note(key, "job.read", null);
  recent.note(key, "job.list", "rows");
  await kept.flush();
  recent.note(key, "job.read", mine);
  await kept.flush();
  t.same(timesOf(rows()), [1, 1, 1, 3]);
  for (const { question } of rows()) t.notMatch(question, /u1|u2|u7|p1|p2|p7|k1|s1/);
});

t.test("people are told apart by their roles, not by how many projects they are in", async (t) => {
  const { recent, kept, rows } = history(t);
  const roles = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ role: "researcher" as const, projectId: `p${at}` },
    }));
  for (const count of [1, 2, 200])
    recent.note(cedarPrincipalOf(sessionOf(...roles(count)), {}), "job.list", "rows");
  recent.note(cedarPrincipalOf(inProject("viewer"), {}), "job.list", "rows");
  for (const minutes of [1, 4, 6, 50])
    recent.note(cedarPrincipalOf(signedIn(inProject("viewer"), minutes), {}), "key.mint", "rows");
  await kept.flush();
  t.same(timesOf(rows()), [1, 2, 2, 3]);
});

t.test("what is older than a week goes, and the oldest of what is too much", async (t) => {
  const { recent, clock, kept, rows } = history(t, 3);
  const ask = async (action: Action) => {
    recent.note(key, action, "rows");
    await kept.flush();
    clock.now += DAY;
  };
  for (const action of ["job.read", "job.list", "job.cancel", "key.list"] as const)
    await ask(action);
  t.same(
    rows()
      .map(({ question }) => (JSON.parse(question) as { action: string }).action)
      .sort(),
    ["job.cancel", "job.list", "key.list"],
  );
  clock.now += 5.5 * DAY;
  await ask("bucket.read");
  t.same(
    rows()
      .map(({ question }) => (JSON.parse(question) as { action: string }).action)
      .sort(),
    ["bucket.read", "key.list"],
  );
});

t.test("a page is of some length, and all pages together are all", async (t) => {
  const { recent, kept, rows, read } = history(t, 100_000);
  const actions = ["job.read", "job.list", "job.cancel", "key.list"] as const;
  for (const action of actions)
    for (let level = 0; level < 200; level++)
      recent.note(
        cedarPrincipalOf(signedIn(inProject("viewer"), 1, String(level)), {}),
        action,
        "rows",
      );
  await kept.flush();
  const found: string[] = [];
  let after: string | null = null;
  let pages = 0;
  do {
    const page: ReturnType<typeof pageOfDecisions> = pageOfDecisions(read, after);
    t.ok(Buffer.byteLength(JSON.stringify(page)) < 64 * 1024);
    found.push(...page.decisions.map(({ question }) => question));
    after = page.next;
    pages++;
  } while (after !== null);
  t.ok(pages > 3);
  t.same(
    found,
    rows()
      .map(({ question }) => question)
      .sort(),
  );
  t.equal(found.length, 800);
});
