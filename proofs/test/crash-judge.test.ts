import { hash } from "node:crypto";
import t from "tap";
import { brokenPromises } from "../audit/crash/evaluate-log.ts";
import { unlistedNextKeys } from "../audit/crash/evaluate-turn.ts";
import { leavesOf, type ReadLog, type ReadShard, rootsAt } from "../audit/crash/read-log.ts";

type Entry = { type: string; op?: string; phase?: string; detail?: Record<string, unknown> };

const NOTHING = { acks: [], checkpoints: [], commitments: new Map() };
const keyOf = (slug: string): string => `box/${slug}+0a0b0c0d`;

/** Every entry is auditd's own, of one life. */
function shard(slug: string, entries: readonly Entry[], signers = [keyOf(slug)]): ReadShard {
  const leaves = entries.map((entry, at) =>
    Buffer.from(
      JSON.stringify({
        prod: "auditd",
        boot: slug,
        pseq: at + 1,
        op: `op-${slug}-${at}`,
        phase: "fact",
        ...entry,
      }),
    ),
  );
  const hashes = leaves.map((leaf) =>
    hash("sha256", Buffer.concat([Buffer.of(0), leaf]), "buffer"),
  );
  const root = rootsAt(hashes, new Set([leaves.length])).get(leaves.length)!;
  return {
    slug,
    log: { origin: `box/${slug}`, size: leaves.length, root, leaves, hashes, signers },
    sidecar: [],
  };
}

const OLDER: readonly Entry[] = [
  { type: "audit.shard.open" },
  { type: "audit.shard.next", detail: { origin: "box/2027", keys: [`${keyOf("2027")}+AQ==`] } },
  { type: "job.submit", op: "op-done", phase: "requested" },
  { type: "job.submit", op: "op-done", phase: "completed" },
  { type: "job.submit", op: "op-open", phase: "requested" },
  { type: "audit.shard.close", detail: { next_origin: "box/2027" } },
];

function younger({ origin, size, root, hashes }: ReadLog): Entry[] {
  const prevRoot = Buffer.from(root, "base64").toString("hex");
  return [
    {
      type: "audit.shard.open",
      detail: { prev_origin: origin, prev_size: size, prev_root: prevRoot },
    },
    {
      type: "audit.op.carried",
      op: "op-open",
      detail: { origin, index: 4, leaf_sha256: hashes[4]?.toString("hex") },
    },
  ];
}

function judged(older: ReadShard, entries: readonly Entry[], signers?: string[]): string[] {
  const keys = [keyOf("2026"), keyOf("2027")];
  return brokenPromises([older, shard("2027", entries, signers)], keys, NOTHING).map(
    (line) => line.split(":")[0]!,
  );
}

t.test("a shard that follows another breaks nothing", async (t) => {
  const older = shard("2026", OLDER);
  t.same(judged(older, younger(older.log)), []);
});

t.test("what is wrong where shards meet is named", async (t) => {
  const older = shard("2026", OLDER);
  const [open, carried] = younger(older.log) as [Entry, Entry];
  const unclosed = shard("2026", OLDER.slice(0, -1));
  t.match(judged(unclosed, younger(unclosed.log)), ["shard not closed"]);
  t.match(judged(older, [carried, open]), ["shard not opened", "shards apart"]);
  t.match(judged(older, [{ ...open, detail: { ...open.detail, prev_size: 5 } }, carried]), [
    "shards apart",
  ]);
  t.match(judged(older, [open]), ["operation lost"]);
  t.match(judged(older, [open, carried, carried]), ["operation doubled"]);
  t.match(judged(older, [open, carried, { ...carried, op: "op-done" }]), ["operation reopened"]);
});

t.test("keys are the ones that were named, that the policy lists, and that signed", async (t) => {
  const older = shard("2026", OLDER);
  const other = "box/2027+01020304";
  t.match(judged(older, younger(older.log), [other]), [
    "signature missing",
    "signer unlisted",
    "other keys",
  ]);
  t.match(brokenPromises([older], [keyOf("2026"), "box/2026+01020304"], NOTHING), [
    /^signature missing: .*01020304/,
  ]);
  const leaves = leavesOf(older.log);
  t.match(unlistedNextKeys(leaves, [keyOf("2026")]), [/^next key unlisted: .*2027/]);
  t.same(unlistedNextKeys(leaves, [keyOf("2027")]), []);
});

t.test("a shard whose leaves a checkpoint covered is missed, an empty one is not", async (t) => {
  const older = shard("2026", OLDER);
  const seen = (size: number) => ({ ...NOTHING, checkpoints: [{ slug: "2027", size, root: "" }] });
  t.match(brokenPromises([older], [keyOf("2026")], seen(3)), ["shard lost: 2027"]);
  t.same(brokenPromises([older], [keyOf("2026")], seen(0)), []);
});

t.test("an acknowledgement holds in whichever shard its leaf stands", async (t) => {
  const older = shard("2026", OLDER);
  const both = [older, shard("2027", younger(older.log))];
  const ack = (leafHash: string | undefined) => ({
    ...NOTHING,
    acks: [{ pseq: 1, index: 1, leafHash: leafHash ?? "" }],
  });
  const keys = [keyOf("2026"), keyOf("2027")];
  for (const { log } of both)
    t.same(brokenPromises(both, keys, ack(log.hashes[1]?.toString("hex"))), []);
  t.match(brokenPromises(both, keys, ack(older.log.hashes[2]?.toString("hex"))), [
    /^acknowledgement lost/,
  ]);
});
