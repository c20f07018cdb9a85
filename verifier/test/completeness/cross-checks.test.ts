/** What two producers say of one thing, each for itself: honest logs whatever befell them, and what only one of them says. */
import { createHash } from "node:crypto";
import type { Actor } from "@resontech/contracts/audit-event";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import t from "tap";
import type { Verdict } from "../../src/verdicts.ts";
import { MadeLog } from "../helper/made-log.ts";

const DAY = 86_400_000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const COORDINATOR = { sub: "coordinator", kind: "system" } as const;
const object = { kind: "object", id: "a".repeat(64) } as const;
const SECOND_SHARD = {
  ...{ reason: "year", prev_origin: "box.audit.acme/2025", prev_size: 5 },
  ...{ prev_root: "c".repeat(64), seen_size: 5 },
};

async function completeness(log: MadeLog): Promise<Verdict> {
  const { verdicts } = await log.judge();
  return verdicts.INTEGRITY.verdict === "PASS"
    ? verdicts.COMPLETENESS
    : { verdict: "FAIL", reason: `INTEGRITY ${verdicts.INTEGRITY.reason}` };
}

/** With the producers of an appliance. */
function begun(
  open: Record<string, unknown> = {},
  producers = ["coordinator-gate", "coordinator-record", "s3-front"],
): MadeLog {
  const log = MadeLog.begun(open);
  for (const prod of producers) log.start(prod);
  return log;
}

/** The coordinator's process begins, under this generation of its database. */
const coordinatorStarts = (log: MadeLog, generation = 1) =>
  log.say(
    {
      ...({
        type: "admin.coordinator.start",
        actor: COORDINATOR,
        object: { kind: "process", id: "coordinator" },
      } as const),
      detail: { generation, version: "1.0.0" },
    },
    "coordinator-gate",
  );

t.test("uploads", async (t) => {
  const ofUpload = (upload: string) => ({ upload_sha256: sha256(upload) });
  const opened = (log: MadeLog, upload: string) =>
    log.say(
      {
        type: "model.output.open",
        actor: { sub: "n1", kind: "node" },
        object,
        detail: { job: "job-1", ...ofUpload(upload) },
      },
      "coordinator-gate",
    );
  const stored = (log: MadeLog, upload: string) =>
    log.say(
      {
        type: "model.output",
        actor: { sub: "n1", kind: "node" },
        object,
        detail: { job: "job-1", ...ofUpload(upload) },
      },
      "coordinator-record",
    );
  /** A request at the door, and its outcome. */
  const door = (
    log: MadeLog,
    step: "open" | "complete" | "abort",
    upload: string | null,
    {
      actor = COORDINATOR,
      phase = "completed",
    }: { actor?: Actor; phase?: "completed" | "failed" | "denied" } = {},
  ) => {
    const op = crypto.randomUUID();
    const said = { type: "data.object.multipart", op, actor, object } as const;
    const detail = { step, ...(upload === null ? {} : ofUpload(upload)) };
    const index = log.say({ ...said, phase: "requested", detail }, "s3-front");
    const close = () =>
      log.say(
        { ...said, phase, outcome: { code: phase === "completed" ? "ok" : "NoSuchUpload" } },
        "s3-front",
      );
    return { index, close };
  };
  const ended = (
    log: MadeLog,
    ...of: Parameters<typeof door> extends [MadeLog, ...infer R] ? R : never
  ) => {
    const { index, close } = door(log, ...of);
    return { index, closed: close() };
  };
  const asked = (log: MadeLog, upload: string) => {
    const op = crypto.randomUUID();
    const said = { type: "data.upload.complete", op, object } as const;
    const index = log.say(
      { ...said, phase: "requested", detail: { parts: 1, ...ofUpload(upload) } },
      "coordinator-gate",
    );
    const close = (phase: "completed" | "failed" = "completed") =>
      log.say(
        { ...said, phase, outcome: { code: phase === "completed" ? "ok" : "interrupted" } },
        "coordinator-record",
      );
    return { index, close };
  };

  const honest: Record<string, (log: MadeLog) => void> = {
    "an output and a user's upload": (log) => {
      ended(log, "open", null);
      opened(log, "out");
      ended(log, "complete", "out");
      stored(log, "out");
      const own = asked(log, "own");
      ended(log, "complete", "own");
      own.close();
    },
    "the door's outcome after the coordinator's": (log) => {
      opened(log, "out");
      const { close } = door(log, "complete", "out");
      stored(log, "out");
      close();
    },
    "a coordinator that is killed while the store puts it together, and asks again": (log) => {
      opened(log, "out");
      ended(log, "complete", "out");
      const own = asked(log, "own");
      const { close } = door(log, "complete", "own");
      log.start("coordinator-gate");
      coordinatorStarts(log);
      own.close("failed");
      close();
      ended(log, "complete", "out", { phase: "failed" });
      log.nowMs += 3 * DAY;
      stored(log, "out");
      const again = asked(log, "own");
      ended(log, "complete", "own", { phase: "failed" });
      again.close("failed");
    },
    "a door that is killed": (log) => {
      opened(log, "out");
      const { close } = door(log, "complete", "out");
      log.start("s3-front");
      close();
      ended(log, "complete", "out");
      stored(log, "out");
    },
    "uploads that are given up, and one that is never heard of again": (log) => {
      opened(log, "a");
      ended(log, "abort", "a");
      opened(log, "b");
      ended(log, "abort", "never told");
    },
    "URLs issued again": (log) => {
      opened(log, "out");
      log.nowMs += 2 * DAY;
      opened(log, "out");
      ended(log, "complete", "out");
      stored(log, "out");
    },
    "what the store refuses, and what users do with their own keys": (log) => {
      ended(log, "complete", "forged", { phase: "denied" });
      ended(log, "complete", "own", { actor: { sub: "usr-1", kind: "user" } });
    },
    "an upload that is under way at the end": (log) => {
      opened(log, "a");
      door(log, "complete", "a");
      opened(log, "b");
      ended(log, "complete", "b");
      asked(log, "c");
    },
    "a database that is put back, whose older words come twice": (log) => {
      coordinatorStarts(log, 1);
      opened(log, "out");
      ended(log, "complete", "out");
      stored(log, "out");
      log.nowMs += 9 * DAY;
      log.start("coordinator-gate");
      coordinatorStarts(log, 2);
      log.start("coordinator-record");
      stored(log, "out");
      ended(log, "complete", "out");
    },
  };
  for (const [what, happens] of Object.entries(honest)) {
    const log = begun();
    happens(log);
    t.match(await completeness(log), { verdict: "PASS" }, what);
  }
  const counted = begun();
  honest["an output and a user's upload"]!(counted);
  t.match(await completeness(counted), { reason: /; 2 uploads, each on record at both ends/ });

  const lies: Record<string, (log: MadeLog) => number> = {
    "completed by somebody with the coordinator's key": (log) =>
      ended(log, "complete", "forged").closed,
    "completed before the coordinator said anything of it": (log) => {
      const { closed } = ended(log, "complete", "out");
      opened(log, "out");
      return closed;
    },
    "completed after it was given up": (log) => {
      opened(log, "out");
      ended(log, "abort", "out");
      return ended(log, "complete", "out").closed;
    },
    "an output that nobody saw pass": (log) => {
      opened(log, "out");
      return stored(log, "out");
    },
    "an output of another upload": (log) => {
      opened(log, "out");
      ended(log, "complete", "out");
      return stored(log, "other");
    },
    "one upload, stored twice": (log) => {
      opened(log, "out");
      ended(log, "complete", "out");
      stored(log, "out");
      return stored(log, "out");
    },
    "a user's upload that nobody saw pass": (log) => asked(log, "own").close(),
  };
  for (const [what, lie] of Object.entries(lies)) {
    const log = begun();
    const index = lie(log);
    t.match(await completeness(log), { verdict: "FAIL", index, reason: /^CROSS-CHECK: / }, what);
    const second = begun(SECOND_SHARD);
    lie(second);
    t.match(
      await completeness(second),
      { verdict: "PASS" },
      `${what}: the beginning may stand in the shard before`,
    );
    const later = begun(SECOND_SHARD);
    coordinatorStarts(later);
    later.nowMs += DAY + 60_000;
    const laterIndex = lie(later);
    t.match(
      await completeness(later),
      { verdict: "FAIL", index: laterIndex },
      `${what}, a day later`,
    );
  }

  const away = begun(SECOND_SHARD, ["s3-front"]);
  away.nowMs += 5 * DAY;
  away.start("coordinator-gate");
  away.start("coordinator-record");
  coordinatorStarts(away);
  ended(away, "complete", "left from the year before");
  t.match(
    await completeness(away),
    { verdict: "PASS" },
    "the coordinator was away for days at the turn",
  );

  const without = begun({}, ["coordinator-gate", "coordinator-record"]);
  opened(without, "out");
  stored(without, "out");
  t.match(await completeness(without), { verdict: "PASS" }, "a store without a door of ours");

  const written = begun();
  const write = (phase: "completed" | "denied") => {
    const op = crypto.randomUUID();
    const said = { type: "data.object.write", op, actor: COORDINATOR, object } as const;
    written.say(
      { ...said, phase: "requested", detail: { bytes: 1, url_sha256: sha256("forged") } },
      "s3-front",
    );
    return written.say(
      { ...said, phase, outcome: { code: phase === "completed" ? "ok" : "denied" } },
      "s3-front",
    );
  };
  write("denied");
  t.match(
    await completeness(written),
    { verdict: "PASS" },
    "a URL to write that the store refused",
  );
  const index = write("completed");
  t.match(
    await completeness(written),
    { verdict: "FAIL", index, reason: /^CROSS-CHECK/ },
    "nobody issues URLs to write objects",
  );
});

/** What coordinator and agents say of members, in a made log. */
class Site {
  readonly log: MadeLog;

  constructor(open: Record<string, unknown> = {}, nodes = ["n1", "n2"]) {
    this.log = begun(open);
    coordinatorStarts(this.log);
    for (const node of nodes) this.log.start(`node-${node}`);
  }

  member(
    member: string,
    from: MemberState | null,
    to: MemberState,
    { node = "n1", role = "server", attempt = "job-1-a1" } = {},
  ): number {
    const detail = { job: "job-1", attempt, role, node, from, to, generation: 1, counter: 1 };
    return this.log.say(
      { type: "job.member", actor: COORDINATOR, object: { kind: "member", id: member }, detail },
      "coordinator-record",
    );
  }

  job(type: "job.finished" | "job.failed" | "job.queued", attempt = "job-1-a1"): number {
    const to = { "job.finished": "SUCCEEDED", "job.failed": "FAILED", "job.queued": "QUEUED" }[
      type
    ] as JobState;
    const detail = { from: "FINALIZING" as JobState, to, attempt, attempt_no: 1 };
    return this.log.say(
      { type, actor: COORDINATOR, object: { kind: "job", id: "job-1" }, detail },
      "coordinator-record",
    );
  }

  agent(
    word: "image" | "staged" | "started" | "ended" | "released",
    member: string,
    { node = "n1", attempt = "job-1-a1", job = "job-1", isClean = true } = {},
  ): number {
    const more = {
      image: { pulled: true },
      staged: { bytes: 1, inputs: 1 },
      started: { container: "c1" },
      ended: { exit_code: 0, out_of_memory: false },
      released: { processes_gone: isClean, disk_gone: isClean, devices_at_baseline: isClean },
    }[word];
    const detail = { job, attempt, generation: 1, counter: 1, ...more };
    return this.log.say(
      {
        type: `job.node.${word}`,
        actor: { sub: node, kind: "node" },
        object: { kind: "member", id: member },
        detail,
      },
      `node-${node}`,
    );
  }

  /** A member's whole life, by both. */
  life(member: string, of: { node?: string; attempt?: string; role?: string } = {}): void {
    this.member(member, null, "LEASED", of);
    this.member(member, "LEASED", "STARTING", of);
    for (const word of ["image", "staged", "started"] as const) this.agent(word, member, of);
    this.member(member, "STARTING", "RUNNING", of);
    this.agent("ended", member, of);
    this.member(member, "RUNNING", "DRAINING", of);
    this.member(member, "DRAINING", "RELEASING", of);
    if (of.role !== "client") this.job("job.finished", of.attempt);
    this.agent("released", member, of);
    this.member(member, "RELEASING", "RELEASED", of);
  }

  /** The coordinator's own life goes on: so many minutes, a record each two. */
  runs(minutes: number): void {
    for (let at = 0; at < minutes; at += 2) {
      this.log.nowMs += 120_000;
      this.log.say(
        {
          ...({
            type: "iam.node.register",
            actor: { sub: "n9", kind: "node" },
            object: { kind: "node", id: "n9" },
          } as const),
          detail: { generation: 1, counter: 1, workers: 1 },
        },
        "coordinator-record",
      );
    }
  }

  lost(node: string): void {
    this.log.say(
      {
        ...({
          type: "iam.node.lost",
          actor: COORDINATOR,
          object: { kind: "node", id: node },
        } as const),
        detail: { generation: 1, counter: 2 },
      },
      "coordinator-record",
    );
  }

  refused(node: string): void {
    this.log.own({
      ...({ type: "audit.rejected", object: { kind: "producer", id: `node-${node}` } } as const),
      detail: {
        type: null,
        sha256: "b".repeat(64),
        bytes: 9,
        reason: "certificate",
        boot: null,
        pseq: null,
        taken: false,
      },
    });
  }
}

t.test("coordinator and agents: honest logs are complete, whatever befell them", async (t) => {
  const honest: Record<string, (site: Site) => void> = {
    "members on two nodes": (site) => {
      site.life("m1");
      site.life("m2", { node: "n2", role: "client" });
      site.life("m3", { attempt: "job-1-a2" });
    },
    "each word of one long before the other's": (site) => {
      for (const word of ["image", "staged", "started", "ended", "released"] as const)
        site.agent(word, "m1");
      site.member("m1", null, "LEASED");
      site.runs(40);
      site.member("m1", "LEASED", "STARTING");
      site.member("m1", "STARTING", "RUNNING");
      site.job("job.finished");
      site.member("m1", "RUNNING", "RELEASED");
      site.member("m2", null, "LEASED");
      site.member("m2", "STARTING", "RUNNING");
      site.runs(60);
      site.job("job.finished");
      site.member("m2", "RUNNING", "RELEASED");
      for (const word of ["started", "ended", "released"] as const) site.agent(word, "m2");
      site.life("m3");
    },
    "an agent that says everything twice": (site) => {
      site.life("m1");
      for (const word of ["started", "ended", "released"] as const) site.agent(word, "m1");
    },
    "members that end before they start, or were never told of": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "LEASED", "RELEASED");
      site.member("m2", null, "LEASED");
      site.member("m2", "LEASED", "STARTING");
      site.agent("image", "m2");
      site.agent("released", "m2");
      site.member("m2", "STARTING", "RELEASED");
      site.job("job.failed");
      site.life("m3");
    },
    "a member that is not let go of": (site) => {
      site.member("m1", null, "LEASED");
      site.agent("started", "m1");
      site.member("m1", "STARTING", "RUNNING");
      site.agent("released", "m1", { isClean: false });
      site.member("m1", "RUNNING", "QUARANTINED");
      site.member("m2", null, "LEASED");
      site.agent("released", "m2", { isClean: false });
      site.agent("released", "m2");
      site.member("m2", "FENCED", "RELEASED");
      site.life("m3");
    },
    "a node that is lost with what it had to say": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.lost("n1");
      site.member("m1", "RUNNING", "LOST");
      for (let n = 0; n < 4; n++) {
        site.life(`x${n}`, { node: "n2", attempt: `job-2-a${n}` });
        site.runs(60);
      }
    },
    "a node that was away for a day and tells it then": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.runs(90);
      site.member("m2", null, "LEASED");
      site.member("m2", "STARTING", "RUNNING");
      for (const member of ["m1", "m2"])
        for (const word of ["started", "ended", "released"] as const) site.agent(word, member);
      site.member("m1", "RUNNING", "RELEASED");
    },
    "a node whose journal was lost": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.job("job.finished");
      site.log.start("node-n1");
      site.agent("released", "m1");
      site.life("m2", { attempt: "job-1-a2" });
    },
    "a node whose words auditd refuses, and later takes": (site) => {
      site.agent("image", "m0");
      site.member("m0", null, "LEASED");
      site.refused("n1");
      for (let n = 1; n < 4; n++) {
        site.member(`m${n}`, null, "LEASED", { attempt: `a${n}` });
        site.member(`m${n}`, "STARTING", "RUNNING", { attempt: `a${n}` });
        site.runs(60);
      }
      for (let n = 1; n < 4; n++)
        for (const word of ["started", "released"] as const)
          site.agent(word, `m${n}`, { attempt: `a${n}` });
    },
    "a coordinator that is killed, or away for days": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.log.nowMs += 3 * DAY;
      site.log.start("coordinator-gate");
      coordinatorStarts(site.log);
      site.member("m2", null, "LEASED");
      site.member("m2", "STARTING", "RUNNING");
      for (const member of ["m1", "m2"])
        for (const word of ["started", "ended", "released"] as const) site.agent(word, member);
    },
    "a database that is put back: what it had said comes twice, and what it had not said never": (
      site,
    ) => {
      site.life("m1");
      site.agent("started", "never-said");
      site.log.start("coordinator-gate");
      coordinatorStarts(site.log, 2);
      site.log.start("coordinator-record");
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.runs(40);
      site.life("m2", { attempt: "job-1-a2" });
    },
    "what is under way at the end": (site) => {
      site.member("m1", null, "LEASED");
      site.member("m1", "STARTING", "RUNNING");
      site.job("job.finished");
      site.agent("started", "m9", { attempt: "job-9-a1" });
    },
  };
  for (const [what, happens] of Object.entries(honest)) {
    const site = new Site();
    happens(site);
    t.match(await completeness(site.log), { verdict: "PASS" }, what);
    const second = new Site(SECOND_SHARD);
    happens(second);
    t.match(await completeness(second.log), { verdict: "PASS" }, `${what}, in a second shard`);
    const later = new Site(SECOND_SHARD);
    later.log.nowMs += DAY + 60_000;
    happens(later);
    t.match(await completeness(later.log), { verdict: "PASS" }, `${what}, later in a second shard`);
  }
  const counted = new Site();
  counted.life("m1");
  counted.member("m2", null, "LEASED");
  counted.member("m2", "STARTING", "RUNNING");
  t.match(await completeness(counted.log), {
    reason: /; 3 starts and ends of members, each told by its node's agent, 1 not yet/,
  });

  const second = new Site(SECOND_SHARD);
  second.log.nowMs += 30 * DAY;
  for (const word of ["image", "staged", "ended", "released"] as const)
    second.agent(word, "of-2025");
  second.member("of-2025", "RUNNING", "RELEASED");
  second.member("also-of-2025", "STARTING", "RUNNING");
  second.job("job.finished", "job-0-a1");
  second.runs(60);
  second.life("m1");
  t.match(await completeness(second.log), { verdict: "PASS" }, "members of the shard before");
});

t.test("coordinator and agents: what only one of them says is named", async (t) => {
  const lies: Record<string, [(site: Site) => number, RegExp]> = {
    "an agent runs what was never placed": [
      (site) => {
        const index = site.agent("started", "m1");
        site.runs(40);
        return index;
      },
      /agent of n1 speaks of a member that the coordinator is not on record to have placed there/,
    ],
    "an agent runs another's member": [
      (site) => {
        site.member("m1", null, "LEASED", { node: "n2" });
        const index = site.agent("started", "m1");
        site.runs(40);
        return index;
      },
      /agent of n1 speaks/,
    ],
    "an agent runs it for another attempt": [
      (site) => {
        site.member("m1", null, "LEASED");
        const index = site.agent("started", "m1", { attempt: "job-1-a9" });
        site.runs(40);
        return index;
      },
      /agent of n1 speaks/,
    ],
    "a start that the agent never told, though it told how it let go": [
      (site) => {
        site.member("m1", null, "LEASED");
        const index = site.member("m1", "STARTING", "RUNNING");
        site.agent("released", "m1");
        return index;
      },
      /that m1 was started, and the agent of n1 is not/,
    ],
    "the same, told later": [
      (site) => {
        site.member("m1", null, "LEASED");
        site.agent("released", "m1");
        return site.member("m1", "STARTING", "RUNNING");
      },
      /that m1 was started/,
    ],
    "an attempt that succeeded, and nobody ran": [
      (site) => {
        site.member("m1", null, "LEASED");
        const index = site.member("m1", "STARTING", "RUNNING");
        site.job("job.finished");
        site.member("m1", "RUNNING", "RELEASED");
        site.life("m2", { attempt: "job-1-a2" });
        return index;
      },
      /that m1 was started/,
    ],
    "an attempt that succeeded, and whose server did not end": [
      (site) => {
        site.member("m1", null, "LEASED");
        site.agent("started", "m1");
        site.member("m1", "STARTING", "RUNNING");
        const index = site.job("job.finished");
        site.life("m2", { attempt: "job-1-a2" });
        return index;
      },
      /that m1 was ended/,
    ],
    "a worker that is free again, and that nobody looked at": [
      (site) => {
        site.member("m1", null, "LEASED");
        const index = site.member("m1", "STARTING", "RELEASED");
        site.life("m2", { attempt: "job-1-a2" });
        return index;
      },
      /that m1 was released/,
    ],
    "one that its agent did not find clean": [
      (site) => {
        site.member("m1", null, "LEASED");
        site.agent("started", "m1");
        site.agent("released", "m1", { isClean: false });
        const index = site.member("m1", "STARTING", "RELEASED");
        site.life("m2", { attempt: "job-1-a2" });
        return index;
      },
      /that m1 was released/,
    ],
    "an agent that is kept back, while the coordinator tells of it for hours": [
      (site) => {
        site.member("m1", null, "LEASED");
        const index = site.member("m1", "STARTING", "RUNNING");
        for (let n = 2; n < 5; n++) {
          site.runs(62);
          site.member(`m${n}`, null, "LEASED", { attempt: `a${n}` });
          site.member(`m${n}`, "STARTING", "RUNNING", { attempt: `a${n}` });
        }
        return index;
      },
      /coordinator tells for hours of n1, whose agent says nothing/,
    ],
  };
  for (const [what, [lie, reason]] of Object.entries(lies)) {
    const site = new Site();
    site.life("m0", { attempt: "job-0-a1" });
    const index = lie(site);
    t.match(await completeness(site.log), { verdict: "FAIL", index, reason }, what);
    const later = new Site(SECOND_SHARD);
    later.log.nowMs += DAY + 60_000;
    const laterIndex = lie(later);
    t.match(
      await completeness(later.log),
      { verdict: "FAIL", index: laterIndex, reason },
      `${what}, in a second shard`,
    );
  }
});
