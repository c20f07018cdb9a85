import t from "tap";
import { PeriodFacts } from "../../src/evidence/facts/period-facts.ts";
import type { Operation } from "../../src/evidence/operations/operation.ts";

let index = 0;
const operation = (said: Partial<Operation>): Operation => ({
  ...{ entry: { shard: "2026", index: index++, hash: "" }, outcome: null, endedAt: null },
  ...{ askedAt: "2026-06-15T00:00:00.000Z", durationMs: null, type: "iam.role.change" },
  ...{ result: "done", code: "ok", status: null, actor: { sub: "u_a", kind: "user" } },
  ...{ onBehalfOf: "", claimed: "", asker: "", approvers: [], approval: "ap_1" },
  ...{ object: { kind: "user", id: "u_1" }, source: "coordinator-record", address: "" },
  ...{ isUnwitnessed: false, isRefused: false, detail: {} },
  ...said,
});
const EARLIER = { askedAt: "2026-05-31T00:00:00.000Z" };
const PERIOD = { from: "2026-06-01T00:00:00.000Z", to: "2026-07-01T00:00:00.000Z" };

t.test("who held a role at both ends of the period, and what changed it", (t) => {
  const facts = new PeriodFacts(PERIOD);
  const role = (person: string, change: "grant" | "revoke", rest: Partial<Operation> = {}) =>
    operation({
      ...{ object: { kind: "user", id: person }, detail: { role: "platform-admin", change } },
      ...rest,
    });
  facts.noteEarlier(role("u_1", "grant"));
  facts.note(role("u_2", "grant", EARLIER));
  facts.note(role("u_2", "revoke"));
  facts.note(role("u_3", "grant"));
  facts.note(role("u_4", "grant", { result: "refused" }));
  facts.note(role("u_1", "revoke", { askedAt: "2026-07-01T00:00:00.000Z" }));
  facts.note(
    operation({
      ...EARLIER,
      type: "iam.user.create",
      detail: { admin: false, duty: "compliance-auditor" },
    }),
  );
  const member = (change: string, of: string | undefined, at: string) =>
    operation({
      ...{ type: "iam.project.member", object: { kind: "project", id: "p_1" }, askedAt: at },
      detail: { change, member: "u_5", ...(of === undefined ? {} : { role: of }) },
    });
  facts.note(member("grant", "researcher", EARLIER.askedAt));
  facts.note(member("grant", "viewer", "2026-06-02T00:00:00.000Z"));
  t.same(
    facts.roles.rows.map(({ person, role: held, where, atStart, atEnd, changes }) => [
      ...[`${person} ${held} ${where}`, atStart, atEnd, changes.length],
    ]),
    [
      ["u_1 compliance-auditor appliance", true, true, 0],
      ["u_1 platform-admin appliance", true, true, 0],
      ["u_2 platform-admin appliance", true, false, 1],
      ["u_3 platform-admin appliance", false, true, 1],
      ["u_5 researcher p_1", true, false, 1],
      ["u_5 viewer p_1", false, true, 1],
    ],
  );
  t.end();
});

t.test("what went another way than the rule is an exception, of each kind that it is", (t) => {
  const facts = new PeriodFacts(PERIOD);
  for (const [said, kinds] of [
    [{ detail: { role: "platform-admin", change: "grant" } }, []],
    [{ approval: "", detail: { role: "platform-admin", change: "grant" } }, ["emergency"]],
    [{ type: "iam.approval.request", detail: { single_person: true } }, ["emergency"]],
    [{ type: "key.bootstrap", isUnwitnessed: true }, ["emergency", "unwitnessed"]],
    [{ type: "audit.shard.open", detail: { reason: "restore" } }, ["restored"]],
    [{ type: "audit.shard.open", detail: { reason: "year" } }, []],
    [{ type: "admin.backup", detail: { change: "put-back" } }, ["restored"]],
    [{ type: "audit.lost" }, ["lost"]],
    [{ type: "admin.clock.step" }, ["clock"]],
    [{ type: "job.submit", isRefused: true, ...EARLIER }, []],
    [{ type: "job.submit", isRefused: true }, ["refused"]],
  ] as const satisfies [Partial<Operation>, string[]][])
    t.same(facts.note(operation(said)), kinds, JSON.stringify(said));
  t.match(facts.exceptions, { refused: 1, emergency: 3, unwitnessed: 1, restored: 2, clock: 1 });
  t.end();
});

t.test("clock and releases are those of the period, and the release that it began with", (t) => {
  const facts = new PeriodFacts(PERIOD);
  const start = (version: string, askedAt: string) =>
    operation({
      type: "admin.coordinator.start",
      result: "recorded",
      detail: { version },
      askedAt,
    });
  facts.note(start("0.1.0", "2026-05-01T00:00:00.000Z"));
  facts.note(start("0.2.0", EARLIER.askedAt));
  facts.note(start("0.3.0", "2026-06-02T00:00:00.000Z"));
  facts.note(start("0.3.0", "2026-06-03T00:00:00.000Z"));
  t.same(
    facts.releases.runs.map(({ release, since }) => `${release} ${since.slice(0, 10)}`),
    ["0.2.0 2026-05-31", "0.3.0 2026-06-02"],
  );
  const { clock } = facts;
  const entry = { type: "key.list" } as const;
  clock.note({ ...entry, clk: { src: "ntp", synced: true, offset_us: -1_500 } });
  clock.note({ ...entry, clk: { src: "local", synced: false } });
  clock.note(entry);
  t.match(clock, { synced: 1, unsynced: 1, untold: 1, greatestOffsetUs: 1_500 });
  t.end();
});
