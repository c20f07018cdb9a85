/** Entries from which the judges conclude something, with what they look at. What is left out stays as it was in a real entry. */
import type { Dice } from "./dice.ts";
import { OPENINGS, ORIGIN, OTHER_ORIGIN } from "./forged-log.ts";
import { filesOf, imageOf, VERSIONS } from "./releases.ts";

export type Leaf = Record<string, unknown>;

/** Of a release that nobody knows. */
export const FOREIGN = "f".repeat(64);
export const T = "2026-11-23T00:00:00.000Z";
/** The auditor's. */
export const NONCE = "ab".repeat(32);
export const ERASURE = {
  type: "privacy.erasure",
  phase: "completed",
  object: { kind: "user", id: "usr-1" },
  schema_sha256: FOREIGN,
};

export const TEMPLATES: readonly ((dice: Dice) => Leaf)[] = [
  (dice) =>
    own("audit.heartbeat", {
      producers: [{ prod: "auditd", boot: "b", pseq: dice.below(9) }],
      open_operations: 0,
    }),
  (dice) =>
    own("audit.heartbeat", {
      away: ["p", "q"].slice(dice.below(3)),
      open_operations: 0,
      producers: [],
    }),
  () => own("audit.heartbeat", { vector: { producers: 1, sha256: FOREIGN }, open_operations: 0 }),
  (dice) =>
    own(
      "audit.producer.start",
      { boot: "b", first_pseq: dice.below(9), prev_boot: null, prev_pseq: 0 },
      dice.pick(["p", "auditd"]),
    ),
  (dice) =>
    own(
      "audit.rejected",
      {
        type: "x",
        sha256: FOREIGN,
        bytes: 1,
        reason: "r",
        boot: "b",
        pseq: dice.below(9),
        taken: true,
      },
      "p",
    ),
  (dice) => own("audit.lost", { index: dice.below(300), leaf_sha256: FOREIGN, size: 9 }, "p"),
  () =>
    own("audit.op.carried", {
      origin: OTHER_ORIGIN,
      index: 1,
      leaf_sha256: FOREIGN,
      type: "job.submit",
      prod: "p",
      requested_at: T,
      logged_at: T,
    }),
  (dice) =>
    own("admin.clock.step", {
      step_ms: dice.pick([-Number.MAX_SAFE_INTEGER, 0, 3_600_000, Number.MAX_SAFE_INTEGER]),
    }),
  () => own("audit.shard.close", {}),
  () => own("audit.stop", {}),
  (dice) =>
    own("audit.shard.open", {
      reason: dice.pick(["first", "restore", "year"]),
      prev_origin: OTHER_ORIGIN,
      prev_size: 5,
      prev_root: FOREIGN,
      seen_size: 9,
      seen_root: null,
      generation: 0,
    }),
  () => ({
    type: "audit.export",
    phase: "requested",
    detail: { nonce: NONCE },
    object: { kind: "log", id: "auditd" },
    schema_sha256: FOREIGN,
  }),
  (dice) => ({
    type: "data.stage",
    phase: "fact",
    prod: "coordinator-gate",
    detail: { url_sha256: FOREIGN, ttl_s: dice.pick([0, 60, Number.MAX_SAFE_INTEGER]) },
    schema_sha256: FOREIGN,
  }),
  (dice) => ({
    type: "data.object.read",
    phase: "fact",
    actor: { sub: "coordinator", kind: "system" },
    detail: { url_sha256: dice.pick([FOREIGN, "0".repeat(64)]), status: 200 },
    schema_sha256: FOREIGN,
  }),
  (dice) => ({
    type: "key.list",
    phase: "fact",
    ...committed(dice.pick(OPENINGS)),
    schema_sha256: FOREIGN,
  }),
  (dice) => ({
    type: "key.list",
    phase: "fact",
    ...committed(dice.pick(OPENINGS)),
    schema_sha256: FOREIGN,
  }),
  (dice) => ({
    type: "job.submit",
    phase: dice.pick(["requested", "completed"]),
    op: `00000000-0000-4000-8000-00000000000${dice.below(3)}`,
    schema_sha256: FOREIGN,
  }),
  (dice) => ({ ...started(dice), schema_sha256: FOREIGN }),
  () => ({
    ...ERASURE,
    detail: { erased: [{ origin: ORIGIN, commitments_count: 0, commitments_root: FOREIGN }] },
  }),
  (dice) => ({
    t_log: dice.pick([
      "0000-01-01T00:00:00.000Z",
      "9999-12-31T23:59:59.999Z",
      "9999-99-99T99:99:99.999Z",
      "2026-02-30T00:00:00.000Z",
    ]),
  }),
];

function own(type: string, detail: object, about = "auditd"): Leaf {
  return {
    type,
    phase: "fact",
    prod: "auditd",
    detail,
    object: { kind: "log", id: about },
    schema_sha256: FOREIGN,
  };
}

export function committed({ field, commitment }: (typeof OPENINGS)[number]): Leaf {
  const [group = "", name = ""] = field.split(".");
  if (group === "pii") return { pii: [{ field: name, commitment }] };
  return { [group]: { [name]: commitment } };
}

/** Of this release: coordinator, agents and S3 door speak of the same members and uploads, or do not. */
export const SAID_BY_SEVERAL: readonly ((dice: Dice) => Leaf)[] = [
  (dice) =>
    member(dice, "job.member", "coordinator-record", { ...placed(dice), from: null, to: "LEASED" }),
  (dice) =>
    member(dice, "job.member", "coordinator-record", {
      ...placed(dice),
      from: "STARTING",
      to: "RUNNING",
    }),
  (dice) =>
    member(dice, "job.member", "coordinator-record", {
      ...placed(dice),
      from: "RELEASING",
      to: dice.pick(["RELEASED", "QUARANTINED"]),
    }),
  (dice) => member(dice, "job.node.started", agent(dice), { ...of(dice), container: "c-1" }),
  (dice) =>
    member(dice, "job.node.ended", agent(dice), {
      ...of(dice),
      exit_code: 0,
      out_of_memory: false,
    }),
  (dice) =>
    member(dice, "job.node.released", agent(dice), {
      ...of(dice),
      processes_gone: true,
      disk_gone: true,
      devices_at_baseline: dice.chance(0.8),
    }),
  (dice) =>
    fact(dice.pick(["job.finished", "job.queued", "job.failed"]), "coordinator-record", "job", {
      from: "RUNNING",
      to: "SUCCEEDED",
      ...attempt(dice),
    }),
  (dice) =>
    fact("iam.node.lost", "coordinator-record", "node", { generation: 1, counter: 1 }, node(dice)),
  (dice) =>
    fact("admin.coordinator.start", "coordinator-gate", "process", {
      generation: dice.below(3),
      version: "1",
    }),
  (dice) =>
    fact(
      "audit.producer.start",
      "auditd",
      "producer",
      { boot: `b-${dice.below(3)}`, first_pseq: 1, prev_boot: "b-0", prev_pseq: 0 },
      dice.pick(["s3-front", agent(dice)]),
    ),
  (dice) =>
    fact(
      "audit.rejected",
      "auditd",
      "producer",
      {
        type: "x",
        sha256: FOREIGN,
        bytes: 1,
        reason: "r",
        boot: "b",
        pseq: 1,
        taken: dice.chance(0.5),
      },
      agent(dice),
    ),
  (dice) => ({
    ...upload(dice, "data.object.multipart", "s3-front", {
      step: dice.pick(["complete", "abort", "create"]),
    }),
    actor: { sub: "coordinator", kind: "system" },
  }),
  (dice) => upload(dice, "data.upload.complete", "coordinator-gate", { parts: 1 }),
  (dice) => ({
    ...upload(dice, "model.output", "coordinator-record", { job: "job-1" }),
    phase: "fact",
  }),
  (dice) => ({
    ...upload(dice, "model.output.open", "coordinator-gate", { job: "job-1" }),
    phase: "fact",
  }),
  (dice) => ({
    ...upload(dice, "data.object.write", "s3-front", {}, "url_sha256"),
    actor: { sub: "coordinator", kind: "system" },
  }),
  started,
];

const node = (dice: Dice): string => `n-${dice.below(2)}`;
const agent = (dice: Dice): string => `node-${node(dice)}`;
const attempt = (dice: Dice): Leaf => ({ attempt: `a-${dice.below(2)}` });
const of = (dice: Dice): Leaf => ({ job: "job-1", ...attempt(dice), generation: 1, counter: 1 });
const placed = (dice: Dice): Leaf => ({
  ...of(dice),
  role: dice.pick(["server", "site"]),
  node: node(dice),
});

function member(dice: Dice, type: string, prod: string, detail: Leaf): Leaf {
  return fact(type, prod, "member", detail, `m-${dice.below(3)}`);
}

function fact(type: string, prod: string, kind: string, detail: Leaf, id = "job-1"): Leaf {
  return { type, phase: "fact", prod, detail, object: { kind, id } };
}

/** What a part runs is of one release, of two, or of none. */
function started(dice: Dice): Leaf {
  const version = dice.below(VERSIONS + 1);
  const files = filesOf(version).filter(() => dice.chance(0.7));
  if (dice.chance(0.2)) files.push(...filesOf(dice.below(VERSIONS)).slice(0, dice.below(3)));
  const image = dice.chance(0.3)
    ? { digests: { image: imageOf(dice.chance(0.7) ? version : dice.below(VERSIONS)) } }
    : {};
  const prod = dice.chance(0.9) ? "supervisor" : "coordinator-gate";
  return {
    ...fact("admin.measured", prod, "process", { files }, dice.pick(["auditd", "vault"])),
    ...image,
  };
}

/** Asked for, or ended, by one of few operations. */
function upload(
  dice: Dice,
  type: string,
  prod: string,
  detail: Leaf,
  member = "upload_sha256",
): Leaf {
  const phase = dice.pick(["requested", "completed", "failed"]);
  const op = `00000000-0000-4000-8000-00000000001${dice.below(4)}`;
  return {
    type,
    phase,
    op,
    prod,
    object: { kind: "object", id: FOREIGN },
    detail: { ...detail, [member]: `${dice.below(3)}`.repeat(64) },
  };
}
