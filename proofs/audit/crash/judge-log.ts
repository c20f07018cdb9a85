/** Compares a log with what was told of it. Pure. */
import type { Ack, SeenCheckpoint } from "./promises.ts";
import { type ReadLog, rootsAt, type SidecarLine } from "./read-log.ts";

export type Told = {
  acks: readonly Ack[];
  checkpoints: readonly SeenCheckpoint[];
  /** By `pseq` of the producer's rows, the commitments that were sent with what opens them. */
  commitments: ReadonlyMap<number, readonly string[]>;
};
type Leaf = { prod: string; boot: string; pseq: number; type: string };

/** What a log breaks, in words; empty when it keeps everything. */
export function brokenPromises(log: ReadLog, sidecar: readonly SidecarLine[], told: Told): string[] {
  const leaves = log.leaves.map((leaf) => JSON.parse(leaf.toString("utf8")) as Leaf);
  return [
    ...brokenAcks(log, told.acks),
    ...brokenRoots(log, told.checkpoints),
    ...brokenSequences(leaves),
    ...brokenSidecar(log, sidecar, told),
    ...leaves
      .filter(({ type }) => type === "audit.lost" || type === "audit.rejected")
      .map(({ type }, index) => `leaf ${index} is ${type}`),
  ];
}

function brokenAcks({ hashes, size }: ReadLog, acks: readonly Ack[]): string[] {
  return acks
    .filter(({ index, leafHash }) => hashes[index]?.toString("hex") !== leafHash)
    .map(({ pseq, index }) => `acknowledgement lost: event ${pseq} at ${index} of ${size}`);
}

function brokenRoots({ hashes, size, root }: ReadLog, checkpoints: readonly SeenCheckpoint[]): string[] {
  const roots = rootsAt(hashes, new Set([size, ...checkpoints.map((seen) => seen.size)]));
  return [{ size, root }, ...checkpoints]
    .filter((seen) => roots.get(seen.size) !== seen.root)
    .map((seen) => `the checkpoint of ${seen.size} leaves is no beginning of this log of ${size}`);
}

/** Each producer's events of one life stand in order, each once. */
function brokenSequences(leaves: readonly Leaf[]): string[] {
  const last = new Map<string, number>();
  const broken: string[] = [];
  for (const [index, { prod, boot, pseq }] of leaves.entries()) {
    const expected = (last.get(`${prod} ${boot}`) ?? 0) + 1;
    if (pseq !== expected) broken.push(`leaf ${index} is event ${pseq} of ${prod}, not ${expected}`);
    last.set(`${prod} ${boot}`, pseq);
  }
  return broken;
}

/** What opens an acknowledged event's commitments is there, and nothing that opens no commitment of its leaf. */
function brokenSidecar({ leaves }: ReadLog, sidecar: readonly SidecarLine[], { acks, commitments }: Told): string[] {
  const held = new Map<number, string[]>();
  for (const { index, commitment } of sidecar) held.set(index, [...(held.get(index) ?? []), commitment]);
  const missing = acks.filter(({ pseq, index }) => (commitments.get(pseq) ?? []).some((one) => !held.get(index)?.includes(one)));
  const strange = sidecar.filter(({ index, commitment }) => !leaves[index]?.includes(commitment));
  const doubled = [...held].filter(([, all]) => new Set(all).size !== all.length);
  return [
    ...missing.map(({ pseq, index }) => `disclosure lost: event ${pseq} at ${index}`),
    ...strange.map(({ index }) => `a disclosure for ${index}, whose leaf has no such commitment`),
    ...doubled.map(([index]) => `the disclosure for ${index} stands twice`),
  ];
}
