import { createHash } from "node:crypto";
import t from "tap";
import { parseDowntime } from "../../src/completeness/timeline.ts";
import type { Verdict } from "../../src/verdicts.ts";
import { MadeLog } from "../helper/made-log.ts";

const HOUR = 3_600_000;
const rejected = (boot: string, pseq: number) =>
  ({
    type: "audit.rejected",
    object: { kind: "producer", id: "p" },
    detail: {
      type: null,
      sha256: "a".repeat(64),
      bytes: 1,
      reason: "schema",
      boot,
      pseq,
      taken: true,
    },
  }) as const;

async function completeness(log: MadeLog): Promise<Verdict> {
  const { verdicts } = await log.judge();
  return verdicts.INTEGRITY.verdict === "PASS"
    ? verdicts.COMPLETENESS
    : { verdict: "FAIL", reason: `INTEGRITY ${verdicts.INTEGRITY.reason}` };
}

t.test("honest logs are complete, whatever befell them", async (t) => {
  const logs: Record<string, () => MadeLog> = {
    "nothing but its start": () => MadeLog.begun(),
    "a day's work": () => {
      const log = MadeLog.begun();
      for (let n = 0; n < 20; n++) {
        const op = log.requested();
        log.run(1);
        log.outcome(op);
        log.key();
      }
      log.run(3);
      return log;
    },
    "restarts of producer and auditd, in good order and not": () => {
      const log = MadeLog.begun();
      log.key();
      log.start("p");
      log.key();
      log.own({ type: "audit.stop", object: { kind: "log", id: "auditd" }, detail: {} });
      log.start("auditd");
      log.key();
      log.start("auditd");
      log.own({
        type: "audit.wal.cut",
        object: { kind: "log", id: "auditd" },
        detail: { index: 5, bytes: 60 },
      });
      log.heartbeat();
      log.start("p", { first_pseq: 40 });
      log.key();
      return log;
    },
    "a refusal in an event's place": () => {
      const log = MadeLog.begun();
      log.key();
      const { boot, pseq } = log.position();
      log.own(rejected(boot, pseq + 1));
      log.position().pseq += 1;
      log.key();
      log.heartbeat();
      return log;
    },
    "an operation that is young": () => {
      const log = MadeLog.begun();
      log.requested();
      log.run(4);
      return log;
    },
    "a clock that was set forward": () => {
      const log = MadeLog.begun();
      log.run(2);
      log.nowMs += 5 * HOUR;
      log.key();
      log.own({
        type: "admin.clock.step",
        object: { kind: "appliance", id: "auditd" },
        detail: { step_ms: 5 * HOUR },
      });
      log.run(2);
      return log;
    },
    "a shard that follows another": () => {
      const log = MadeLog.begun({
        reason: "year",
        prev_origin: "box.audit.acme/2025",
        prev_size: 9,
        prev_root: "c".repeat(64),
        seen_size: 9,
      });
      const op = crypto.randomUUID();
      log.own({
        type: "audit.op.carried",
        op,
        object: { kind: "log", id: "auditd" },
        detail: {
          ...{
            origin: "box.audit.acme/2025",
            index: 7,
            leaf_sha256: "d".repeat(64),
            type: "job.submit",
            prod: "p",
          },
          ...{ requested_at: "2026-03-01T07:59:00.000Z", logged_at: "2026-03-01T07:59:00.000Z" },
        },
      });
      log.outcome(op);
      log.own({
        type: "audit.shard.close",
        object: { kind: "log", id: "auditd" },
        detail: { next_origin: "box.audit.acme/2027", open_operations: 0 },
      });
      return log;
    },
  };
  for (const [what, make] of Object.entries(logs))
    t.match(await completeness(make()), { verdict: "PASS" }, what);
});

t.test("what is missing or does not fit is named with its entry", async (t) => {
  const lies: Record<string, [make: (log: MadeLog) => void, reason: RegExp]> = {
    "a number left out": [
      (log) => void log.raw("p", log.position().boot, 5, { type: "key.list" }),
      /GAP: p says 5 where 1 must be/,
    ],
    "a number twice": [
      (log) => [log.key(), log.raw("p", log.position().boot, 1, { type: "key.list" })],
      /GAP: p says 1 where 2/,
    ],
    "a life that was not begun": [
      (log) => void log.raw("p", "b-99", 1, { type: "key.list" }),
      /life that was not begun/,
    ],
    "a producer that never started": [
      (log) => void log.raw("q", "b-1", 1, { type: "key.list" }),
      /q speaks before its start/,
    ],
    "a start that knows of more": [
      (log) => {
        log.key();
        log.start("p", { prev_pseq: 9 });
      },
      /last life ended at 9, the log has 1/,
    ],
    "a heartbeat that knows of more": [
      (log) => {
        log.key();
        log.position().pseq += 1;
        log.heartbeat();
      },
      /heartbeat says that p is at 2, the log has 1/,
    ],
    "an outcome without a request": [
      (log) => log.outcome(crypto.randomUUID()),
      /outcome without a request/,
    ],
    "two outcomes": [
      (log) => {
        const op = log.requested();
        log.outcome(op);
        log.outcome(op);
      },
      /outcome without a request/,
    ],
    "another type of outcome": [
      (log) => log.outcome(log.requested("job.cancel")),
      /outcome is job.submit, the request was job.cancel/,
    ],
    "requested twice": [(log) => log.requested("job.submit", log.requested()), /requested twice/],
    "no outcome for too long": [
      (log) => {
        log.requested();
        log.run(7);
      },
      /1 operations have no outcome/,
    ],
    "a loss": [
      (log) => {
        const detail = { index: 90, leaf_sha256: "e".repeat(64), size: 4 };
        log.own({ type: "audit.lost", object: { kind: "producer", id: "p" }, detail });
      },
      /LOST: p holds an acknowledgement of entry 90/,
    ],
    "a shard within a shard": [
      (log) =>
        void log.own({
          type: "audit.shard.open",
          object: { kind: "log", id: "auditd" },
          detail: {
            reason: "first",
            prev_origin: null,
            prev_size: 0,
            prev_root: null,
            seen_size: 0,
            seen_root: null,
            generation: 0,
          },
        }),
      /opened within another/,
    ],
  };
  for (const [what, [lie, reason]] of Object.entries(lies)) {
    const log = MadeLog.begun();
    const index = log.leaves.length;
    lie(log);
    const verdict = await completeness(log);
    t.match(verdict, { verdict: "FAIL", reason }, what);
    t.ok(verdict.index! >= index, `${what}: entry ${verdict.index}`);
  }
  const headless = new MadeLog();
  headless.raw("p", "b-1", 1, { type: "key.list" });
  t.match(
    await completeness(headless),
    { verdict: "FAIL", index: 0 },
    "a log without its beginning",
  );
});

t.test(
  "of more than two hundred producers the heartbeat has a digest, which must be that of what the log holds",
  async (t) => {
    const log = MadeLog.begun();
    for (let n = 0; n < 240; n++) log.start(`node-${n}`);
    log.heartbeat();
    t.match(await completeness(log), { verdict: "PASS", reason: /^242 producers/ });
    log.position("node-7").pseq += 1;
    log.heartbeat();
    t.match(await completeness(log), { verdict: "FAIL", reason: /digest of 242 producers/ });
  },
);

t.test(
  "silence is DARK, or STOPPED after a stop in good order, and fails where no downtime was announced for it",
  async (t) => {
    const log = MadeLog.begun();
    log.run(1);
    log.nowMs += 3 * HOUR;
    log.start("auditd");
    log.run(1);
    log.own({ type: "audit.stop", object: { kind: "log", id: "auditd" }, detail: {} });
    log.nowMs += 2 * HOUR;
    log.start("auditd");
    log.heartbeat();
    const told = await log.judge();
    t.match(told.verdicts.COMPLETENESS, { verdict: "PASS", reason: /DARK 1, STOPPED 1/ });
    t.match(told.findings, {
      stretches: [
        { kind: "DARK", from: "2026-03-01T08:01:00.000Z", to: "2026-03-01T11:01:00.000Z" },
        { kind: "STOPPED", from: "2026-03-01T11:02:00.000Z", to: "2026-03-01T13:02:00.000Z" },
      ],
      abruptStarts: 1,
    });
    const judgedBy = async (text: string) =>
      (await log.judge({ downtime: parseDowntime(text) })).verdicts.COMPLETENESS;
    t.match(await judgedBy("# planned\n2026-03-01T11:00Z 2026-03-01T13:05Z\n"), {
      verdict: "FAIL",
      reason: /^DARK from/,
    });
    t.match(
      await judgedBy(
        "2026-03-01T08:00Z 2026-03-01T11:02Z\n2026-03-01T11:00Z 2026-03-01T13:05:00Z\n",
      ),
      { verdict: "PASS" },
    );
    for (const wrong of [
      "yesterday today",
      "2026-03-01T11:00Z",
      "2026-03-01T11:00Z 2026-03-01T10:00Z",
      "2026-03-01T11:00 2026-03-02T11:00",
    ])
      t.equal(parseDowntime(wrong), null, wrong);
  },
);

t.test(
  "a producer that two heartbeats miss was SILENT; one that a single one misses was on its way",
  async (t) => {
    const log = MadeLog.begun();
    log.run(1, []);
    log.run(1, ["audit-out"]);
    log.run(3, ["p"]);
    log.start("p");
    log.run(2, []);
    log.run(4, ["vault"]);
    const { verdicts, findings } = await log.judge();
    t.match(verdicts.COMPLETENESS, { verdict: "PASS", reason: /DARK 0, STOPPED 0, SILENT 2/ });
    t.match(findings?.stretches, [
      {
        kind: "SILENT",
        prod: "p",
        from: "2026-03-01T08:03:00.000Z",
        to: "2026-03-01T08:06:00.000Z",
      },
      {
        kind: "SILENT",
        prod: "vault",
        from: "2026-03-01T08:08:00.000Z",
        to: "2026-03-01T08:11:00.000Z",
      },
    ]);
    t.equal(findings?.stretches.length, 2);
    const strict = await log.judge({
      downtime: parseDowntime("2026-03-01T08:00Z 2026-03-01T08:07Z\n"),
    });
    t.match(strict.verdicts.COMPLETENESS, {
      verdict: "FAIL",
      reason: /SILENT from 2026-03-01T08:08/,
    });
  },
);

t.test("what a restore cost is RECOVERED, not lost in silence", async (t) => {
  const log = MadeLog.begun({
    reason: "restore",
    prev_origin: "box.audit.acme/2025",
    prev_size: 50,
    prev_root: "c".repeat(64),
    seen_size: 80,
  });
  log.own({
    type: "audit.lost",
    object: { kind: "producer", id: "p" },
    detail: { index: 79, leaf_sha256: "e".repeat(64), size: 3 },
  });
  log.raw("p", log.position().boot, 30, { type: "key.list" });
  const { verdicts, findings } = await log.judge();
  t.match(verdicts.COMPLETENESS, {
    verdict: "PASS",
    reason: /RECOVERED: entries 50 to 79 of box\.audit\.acme\/2025/,
  });
  t.match(findings?.recovered, { from: 50, to: 80 });

  log.own({
    type: "audit.lost",
    object: { kind: "producer", id: "p" },
    detail: { index: 60, leaf_sha256: "d".repeat(64), size: 5 },
  });
  t.match((await log.judge()).verdicts.COMPLETENESS, {
    verdict: "FAIL",
    reason: /LOST: p holds an acknowledgement of entry 60/,
  });

  const unseen = MadeLog.begun({
    ...{
      reason: "restore",
      prev_origin: "box.audit.acme/2025",
      prev_size: 50,
      prev_root: "c".repeat(64),
      seen_size: 50,
    },
  });
  t.match((await unseen.judge()).verdicts.COMPLETENESS, {
    verdict: "PASS",
    reason: /RECOVERED: .* from entry 50 on, and nobody had seen/,
  });
});

t.test(
  "a URL that was used at the S3 door was issued on record; one that was refused there says nothing",
  async (t) => {
    const url = (text: string) => createHash("sha256").update(text).digest("hex");
    const object = { kind: "object", id: "a".repeat(64) } as const;
    const coordinator = { sub: "coordinator", kind: "system" } as const;
    const begun = (detail: Record<string, unknown> = {}) => {
      const log = MadeLog.begun(detail);
      log.start("coordinator-gate");
      log.start("s3-front");
      return log;
    };
    const issue = (log: MadeLog, text: string) =>
      log.say(
        {
          type: "data.stage",
          actor: { sub: "node-1", kind: "node" },
          object,
          detail: { job: "job-1", ttl_s: 3_600, url_sha256: url(text) },
        },
        "coordinator-gate",
      );
    const use = (log: MadeLog, text: string, status = 200, actor: object = coordinator) =>
      log.say(
        {
          type: "data.object.read",
          actor,
          object,
          detail: { status, url_sha256: url(text) },
        } as never,
        "s3-front",
      );

    const honest = begun();
    issue(honest, "one");
    use(honest, "one");
    honest.say(
      {
        type: "data.download.issue",
        ...{ actor: { sub: "usr-1", kind: "user" }, object },
        detail: { ttl_s: 300, url_sha256: url("of a page") },
      },
      "coordinator-gate",
    );
    use(honest, "of a page");
    use(honest, "one");
    use(honest, "forged", 403);
    use(honest, "a user's own", 200, { sub: "usr-1", kind: "user" });
    t.match(await completeness(honest), {
      verdict: "PASS",
      reason: /3 uses of URLs, each issued on record/,
    });

    const forged = begun();
    issue(forged, "one");
    const index = use(forged, "by somebody with the key");
    t.match(await completeness(forged), { verdict: "FAIL", index, reason: /^CROSS-CHECK/ });

    const second = begun({
      reason: "year",
      prev_origin: "box.audit.acme/2025",
      prev_size: 5,
      prev_root: "c".repeat(64),
      seen_size: 5,
    });
    use(second, "issued in the shard before");
    t.match(await completeness(second), { verdict: "PASS" });
  },
);
