/** Compares a log with what was told of it. Pure. */
import { brokenTurn } from "./evaluate-turn.ts";
import type { Ack, SeenCheckpoint } from "./promises.ts";
import { type Leaf, leavesOf, type ReadLog, type ReadShard, rootsAt } from "./read-log.ts";

export type Told = {
  acks: readonly Ack[];
  checkpoints: readonly SeenCheckpoint[];
  /** By `pseq` of the producer's rows, the commitments that were sent with what opens them. */
  commitments: ReadonlyMap<number, readonly string[]>;
};
/**
 * What a log breaks, in words; empty when it keeps everything.
 * @param policyKeys `name+key id` of the keys that its policy lists
 */
export function brokenPromises(
  shards: readonly ReadShard[],
  policyKeys: readonly string[],
  told: Told,
): string[] {
  const leaves = shards.map(({ log }) => leavesOf(log));
  return [
    ...brokenAcks(shards, told.acks),
    ...lostShards(shards, told.checkpoints),
    ...shards.flatMap(({ slug, log }) =>
      brokenRoots(
        log,
        told.checkpoints.filter((seen) => seen.slug === slug),
      ),
    ),
    ...brokenSequences(leaves.flat()),
    ...shards.flatMap(strangeDisclosures),
    ...lostDisclosures(shards, told),
    ...shards.flatMap(({ log }) => brokenSignatures(log, policyKeys)),
    ...shards
      .slice(1)
      .flatMap(({ log }, at) => brokenTurn(shards[at]!.log, log, leaves[at]!, leaves[at + 1]!)),
    ...leaves
      .flat()
      .filter(({ type }) => type === "audit.lost" || type === "audit.rejected")
      .map(({ type }) => `${type}: nothing was lost or refused`),
  ];
}

/** An acknowledgement does not say in which shard; its leaf stands in one. */
function shardOf(shards: readonly ReadShard[], { index, leafHash }: Ack): ReadShard | undefined {
  return shards.find(({ log }) => log.hashes[index]?.toString("hex") === leafHash);
}

function brokenAcks(shards: readonly ReadShard[], acks: readonly Ack[]): string[] {
  const sizes = shards.map(({ log }) => log.size).join(" and ");
  return acks
    .filter((ack) => shardOf(shards, ack) === undefined)
    .map(({ pseq, index }) => `acknowledgement lost: event ${pseq} at ${index} of ${sizes}`);
}

/** A shard is begun once a checkpoint covers its first leaves. */
function lostShards(
  shards: readonly ReadShard[],
  checkpoints: readonly SeenCheckpoint[],
): string[] {
  const begun = new Set(checkpoints.flatMap(({ slug, size }) => (size > 0 ? [slug] : [])));
  return [...begun]
    .filter((slug) => !shards.some((shard) => shard.slug === slug))
    .map((slug) => `shard lost: ${slug}`);
}

function brokenRoots(
  { hashes, size, root }: ReadLog,
  checkpoints: readonly Omit<SeenCheckpoint, "slug">[],
): string[] {
  const roots = rootsAt(hashes, new Set([size, ...checkpoints.map((seen) => seen.size)]));
  return [{ size, root }, ...checkpoints]
    .filter((seen) => roots.get(seen.size) !== seen.root)
    .map(
      (seen) =>
        `checkpoint contradicted: that of ${seen.size} leaves is no beginning of this log of ${size}`,
    );
}

/** Each producer's events of one life stand in order, each once. */
function brokenSequences(leaves: readonly Leaf[]): string[] {
  const last = new Map<string, number>();
  const broken: string[] = [];
  for (const [index, { prod, boot, pseq }] of leaves.entries()) {
    const expected = (last.get(`${prod} ${boot}`) ?? 0) + 1;
    if (pseq !== expected)
      broken.push(`sequence broken: leaf ${index} is event ${pseq} of ${prod}, not ${expected}`);
    last.set(`${prod} ${boot}`, pseq);
  }
  return broken;
}

/** What opens an acknowledged event's commitments is there. */
function lostDisclosures(shards: readonly ReadShard[], { acks, commitments }: Told): string[] {
  const held = new Map(
    shards.map(({ slug, sidecar }) => [slug, Map.groupBy(sidecar, ({ index }) => index)]),
  );
  return acks
    .filter((ack) => {
      const shard = shardOf(shards, ack);
      const lines = (shard && held.get(shard.slug)?.get(ack.index)) ?? [];
      return (commitments.get(ack.pseq) ?? []).some(
        (one) => !lines.some(({ commitment }) => commitment === one),
      );
    })
    .map(({ pseq, index }) => `disclosure lost: event ${pseq} at ${index}`);
}

/** Nothing is kept that opens no commitment of its leaf. */
function strangeDisclosures({ log, sidecar }: ReadShard): string[] {
  const strange = sidecar.filter(
    ({ index, commitment }) => !log.leaves[index]?.includes(commitment),
  );
  const doubled = [...Map.groupBy(sidecar, ({ index }) => index)].filter(
    ([, lines]) => new Set(lines.map(({ commitment }) => commitment)).size !== lines.length,
  );
  return [
    ...strange.map(
      ({ index }) => `strange disclosure: for ${index}, whose leaf has no such commitment`,
    ),
    ...doubled.map(([index]) => `doubled disclosure: for ${index}`),
  ];
}

/** The policy lists the keys that signed and no other: a verifier wants every listed one's signature. */
function brokenSignatures({ origin, signers }: ReadLog, policyKeys: readonly string[]): string[] {
  const listed = policyKeys.filter((key) => key.startsWith(`${origin}+`));
  const missing = listed.filter((key) => !signers.includes(key));
  const unlisted = signers.filter((key) => !listed.includes(key));
  return [
    ...missing.map((key) => `signature missing: the policy lists ${key}`),
    ...unlisted.map((key) => `signer unlisted: the policy lacks ${key}`),
  ];
}
