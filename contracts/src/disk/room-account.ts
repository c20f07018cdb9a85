/**
 * The one account of room: what each part takes of a file system before the first job, in bytes. The bundle's builder, preflight, plan, nodes and
 * documents read it. What a nearly full disk does is disk-ladder.ts.
 */
import { reserveOf, roomForReserve } from "./log-reserve.ts";

const GIB = 1024 ** 3;

/** An image whose release does not say its unpacked size: the images for processors are unpacked 2.7 times as large as stored. */
const UNPACKED_FACTOR = 3;
/** Files of a release lie in whole blocks, and in folders. */
const BLOCKS_FACTOR = 1.05;
/** Notes and logs of the supervisor, within its first weeks. */
export const SUPERVISOR_DATA_BYTES = 16 * 1024 ** 2;
/** What an agent wants free before its first start: a member's disk has so much beside its data. */
export const FIRST_JOB_BYTES = 10 * GIB;

export type Demand = { part: string; bytes: number };

type Blobs = readonly { sha256: string; sizeBytes: number }[];
export type ReleaseSizes = {
  tree: Blobs;
  images: readonly { blobs: Blobs; unpackedBytes?: number | undefined }[];
};

/** What a release takes. @param isStored whether the appliance has the blob already, as an earlier release had it; its image is unpacked then */
export function demandsOfRelease(
  { tree, images }: ReleaseSizes,
  isStored: (sha256: string) => boolean = () => false,
): Demand[] {
  const seen = new Set<string>();
  const missing = (blobs: Blobs): number =>
    blobs.reduce((sum, { sha256, sizeBytes }) => {
      if (seen.has(sha256) || isStored(sha256)) return sum;
      seen.add(sha256);
      return sum + sizeBytes;
    }, 0);
  const treeBytes = missing(tree);
  const imageBytes = images.map(({ blobs }) => missing(blobs));
  const unpackedBytes = images.reduce(
    (sum, image, at) =>
      imageBytes[at] === 0 ? sum : sum + (image.unpackedBytes ?? UNPACKED_FACTOR * imageBytes[at]!),
    0,
  );
  return [
    { part: "programs", bytes: Math.ceil(treeBytes * BLOCKS_FACTOR) },
    {
      part: "images",
      bytes: Math.ceil(imageBytes.reduce((sum, bytes) => sum + bytes, 0) * BLOCKS_FACTOR),
    },
    { part: "images unpacked", bytes: Math.ceil(unpackedBytes * BLOCKS_FACTOR) },
  ];
}

/**
 * What an appliance takes that was not there, beside its release.
 * @param keyKind null: the audit log has settled what it holds back
 * @param dataBytes of all its processes
 */
export function demandsOfFirstStart(
  keyKind: "live" | "dev" | null,
  totalBytes: number,
  dataBytes: number,
): Demand[] {
  const first = [
    { part: "databases, figures and logs", bytes: dataBytes },
    { part: "first job", bytes: FIRST_JOB_BYTES },
  ];
  if (keyKind === null) return first;
  const others = sumOf(first);
  const most = reserveOf(keyKind, { totalBytes, freeBytes: Infinity });
  return [
    ...first,
    { part: "held back by the audit log", bytes: roomForReserve(keyKind, most, others) },
  ];
}

/** What a node takes for the image of its first job, as it is pulled and as it is unpacked, and for that job. */
export function demandsOfNode(programBytes: number): Demand[] {
  return [
    { part: "programs", bytes: Math.ceil(programBytes * BLOCKS_FACTOR) },
    { part: "a job's image", bytes: 4 * GIB },
    { part: "first job", bytes: FIRST_JOB_BYTES },
  ];
}

export function sumOf(demands: readonly Demand[]): number {
  return demands.reduce((sum, { bytes }) => sum + bytes, 0);
}
