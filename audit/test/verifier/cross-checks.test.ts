/** What two producers say of one thing, each for itself: honest logs whatever befell them, and what only one of them says. */
import { createHash } from "node:crypto";
import type { Actor } from "@resontech/contracts/audit-event";
import t from "tap";
import type { Verdict } from "../../src/verifier/verdicts.ts";
import { MadeLog } from "./made-log.ts";

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
function begun(open: Record<string, unknown> = {}, producers = ["coordinator-gate", "coordinator-record", "s3-front"]): MadeLog {
  const log = MadeLog.begun(open);
  for (const prod of producers) log.start(prod);
  return log;
}

/** The coordinator's process begins, under this generation of its database. */
const coordinatorStarts = (log: MadeLog, generation = 1) =>
  log.say(
    {
      ...({ type: "admin.coordinator.start", actor: COORDINATOR, object: { kind: "process", id: "coordinator" } } as const),
      detail: { generation, version: "1.0.0" },
    },
    "coordinator-gate",
  );

t.test("uploads", async (t) => {
  const ofUpload = (upload: string) => ({ upload_sha256: sha256(upload) });
  const opened = (log: MadeLog, upload: string) =>
    log.say(
      { type: "model.output.open", actor: { sub: "n1", kind: "node" }, object, detail: { job: "job-1", ...ofUpload(upload) } },
      "coordinator-gate",
    );
  const stored = (log: MadeLog, upload: string) =>
    log.say(
      { type: "model.output", actor: { sub: "n1", kind: "node" }, object, detail: { job: "job-1", ...ofUpload(upload) } },
      "coordinator-record",
    );
  /** A request at the door, and its outcome. */
  const door = (
    log: MadeLog,
    step: "open" | "complete" | "abort",
    upload: string | null,
    { actor = COORDINATOR, phase = "completed" }: { actor?: Actor; phase?: "completed" | "failed" | "denied" } = {},
  ) => {
    const op = crypto.randomUUID();
    const said = { type: "data.object.multipart", op, actor, object } as const;
    const detail = { step, ...(upload === null ? {} : ofUpload(upload)) };
    const index = log.say({ ...said, phase: "requested", detail }, "s3-front");
    const close = () => log.say({ ...said, phase, outcome: { code: phase === "completed" ? "ok" : "NoSuchUpload" } }, "s3-front");
    return { index, close };
  };
  const ended = (log: MadeLog, ...of: Parameters<typeof door> extends [MadeLog, ...infer R] ? R : never) => {
    const { index, close } = door(log, ...of);
    return { index, closed: close() };
  };
  const asked = (log: MadeLog, upload: string) => {
    const op = crypto.randomUUID();
    const said = { type: "data.upload.complete", op, object } as const;
    const index = log.say({ ...said, phase: "requested", detail: { parts: 1, ...ofUpload(upload) } }, "coordinator-gate");
    const close = (phase: "completed" | "failed" = "completed") =>
      log.say({ ...said, phase, outcome: { code: phase === "completed" ? "ok" : "interrupted" } }, "coordinator-record");
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
    "completed by somebody with the coordinator's key": (log) => ended(log, "complete", "forged").closed,
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
    t.match(await completeness(second), { verdict: "PASS" }, `${what}: the beginning may stand in the shard before`);
    const later = begun(SECOND_SHARD);
    coordinatorStarts(later);
    later.nowMs += DAY + 60_000;
    const laterIndex = lie(later);
    t.match(await completeness(later), { verdict: "FAIL", index: laterIndex }, `${what}, a day later`);
  }

  const away = begun(SECOND_SHARD, ["s3-front"]);
  away.nowMs += 5 * DAY;
  away.start("coordinator-gate");
  away.start("coordinator-record");
  coordinatorStarts(away);
  ended(away, "complete", "left from the year before");
  t.match(await completeness(away), { verdict: "PASS" }, "the coordinator was away for days at the turn");

  const without = begun({}, ["coordinator-gate", "coordinator-record"]);
  opened(without, "out");
  stored(without, "out");
  t.match(await completeness(without), { verdict: "PASS" }, "a store without a door of ours");

  const written = begun();
  const write = (phase: "completed" | "denied") => {
    const op = crypto.randomUUID();
    const said = { type: "data.object.write", op, actor: COORDINATOR, object } as const;
    written.say({ ...said, phase: "requested", detail: { bytes: 1, url_sha256: sha256("forged") } }, "s3-front");
    return written.say({ ...said, phase, outcome: { code: phase === "completed" ? "ok" : "denied" } }, "s3-front");
  };
  write("denied");
  t.match(await completeness(written), { verdict: "PASS" }, "a URL to write that the store refused");
  const index = write("completed");
  t.match(await completeness(written), { verdict: "FAIL", index, reason: /^CROSS-CHECK/ }, "nobody issues URLs to write objects");
});
