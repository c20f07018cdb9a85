/**
 * Chooses one state that POSIX allows after a power cut. Every kind says why it is allowed; all draw from one seeded source, so a seed repeats
 * its images. What was synced is in every one of them.
 */
import {
  type BytesChange,
  type Disk,
  DiskFile,
  type DiskFolder,
  type DiskNode,
  type NameChange,
  resized,
} from "./disk-model.ts";

/** One file has one object here, under however many names. */
export type ImageFile = { bytes: Buffer; mode: number };
export type ImageFolder = { entries: Map<string, ImageFile | ImageFolder>; mode: number };

/** Which of a folder's unsynced names are there; of a file's unsynced bytes. */
type Fate = {
  names: "all" | "none" | "each" | "ordered" | "made" | "removed";
  bytes: "all" | "none" | "torn" | "stale";
};

export const CRASH_KINDS = {
  /** The kernel may have written everything back just before. */
  "all kept": { names: "all", bytes: "all" },
  /** It need not have written anything back that nobody synced. */
  "unsynced dropped": { names: "none", bytes: "none" },
  /** Names and bytes are written back apart: with delayed allocation a new name may stand for an empty file. */
  "names without bytes": { names: "all", bytes: "none" },
  /** The other way round: the bytes came, the folder did not. */
  "bytes without names": { names: "none", bytes: "all" },
  /** Pages are written in any order, and a disk promises to keep a sector whole, no more. */
  torn: { names: "all", bytes: "torn" },
  /** A journal keeps names in the order in which they changed, up to some moment; bytes have no part in it. */
  "journal cut": { names: "ordered", bytes: "torn" },
  /** Without a journal each name reaches the disk for itself, in any order. */
  reordered: { names: "each", bytes: "torn" },
  /** As before, where removals happen to be the ones that are lost: a name that went is back, and a rename has left both. */
  "removals lost": { names: "made", bytes: "torn" },
  /** As before, where they alone came: a rename has left neither name. */
  "removals alone": { names: "removed", bytes: "torn" },
  /** Where a file grew and its bytes were never written, the blocks may hold what another file left in them. */
  "stale blocks": { names: "all", bytes: "stale" },
} as const satisfies Record<string, Fate>;
export type CrashKind = keyof typeof CRASH_KINDS;

const SECTOR_BYTES = 512;
const MAX_JOURNAL_LAG = 600;

/** @param random from 0 up to 1 */
export function crashState(disk: Disk, kind: CrashKind, random: () => number): ImageFolder {
  const fate: Fate = CRASH_KINDS[kind];
  // Most of what is unsynced is young: most journals must end there.
  const cutAt = disk.position - Math.floor(MAX_JOURNAL_LAG * random() ** 3);
  const files = new Map<DiskFile, ImageFile>();
  const imageOf = (node: DiskNode): ImageFile | ImageFolder => {
    if (!(node instanceof DiskFile)) return folderOf(node);
    const known = files.get(node);
    if (known !== undefined) return known;
    const file = fileAfter(node, fate, disk.remains, random);
    files.set(node, file);
    return file;
  };
  const folderOf = (folder: DiskFolder): ImageFolder => ({
    mode: folder.mode,
    entries: new Map(
      [...namesAfter(folder, fate, cutAt, random)].map(([name, node]) => [name, imageOf(node)]),
    ),
  });
  return folderOf(disk.root);
}

/** What the blocks of removed key files hold then. */
export function keyBlocks(
  { removedKeys, remains }: Disk,
  kind: CrashKind,
  random: () => number,
): Buffer[] {
  return removedKeys.map((file) => fileAfter(file, CRASH_KINDS[kind], remains, random).bytes);
}

function namesAfter(
  folder: DiskFolder,
  { names }: Fate,
  cutAt: number,
  random: () => number,
): Map<string, DiskNode> {
  const kept = new Map(folder.durable);
  const keep = ({ name, node }: NameChange): void => {
    if (node === null) kept.delete(name);
    else kept.set(name, node);
  };
  const { pending } = folder.changes;
  switch (names) {
    case "none":
      break;
    case "all":
      pending.forEach(keep);
      break;
    case "ordered":
      for (const change of pending) if (change.at < cutAt) keep(change);
      break;
    case "made":
      for (const change of pending) if (change.node !== null) keep(change);
      break;
    case "removed":
      for (const change of pending) if (change.node === null) keep(change);
      break;
    case "each":
      for (const changes of Map.groupBy(pending, ({ name }) => name).values()) {
        const last = changes[Math.floor(random() * (changes.length + 1)) - 1];
        if (last !== undefined) keep(last);
      }
  }
  return kept;
}

function fileAfter(
  file: DiskFile,
  { bytes }: Fate,
  remains: readonly Buffer[],
  random: () => number,
): ImageFile {
  const modes = [file.durableMode, ...file.modes.pending];
  switch (bytes) {
    case "none":
      return { bytes: file.durable, mode: file.durableMode };
    case "all":
      return { bytes: file.current(), mode: modes.at(-1)! };
    case "torn":
    case "stale":
      return {
        bytes: tornBytes(file, bytes === "stale" ? remains : null, random),
        mode: modes[Math.floor(random() * modes.length)]!,
      };
  }
}

/** Each sector as it was after any one of the changes since the sync; the size likewise, apart from them. */
function tornBytes(
  { durable, changes: { pending } }: DiskFile,
  remains: readonly Buffer[] | null,
  random: () => number,
): Buffer {
  if (pending.length === 0) return durable;
  const sizes = [durable.length];
  for (const change of pending)
    sizes.push(
      change.kind === "truncate"
        ? change.length
        : Math.max(sizes.at(-1)!, change.offset + change.bytes.length),
    );
  const size = sizes[Math.floor(random() * sizes.length)]!;
  const result = resized(Buffer.from(durable), size);
  if (remains !== null) spreadRemains(result, durable.length, remains, random);
  for (const [sector, changes] of changesBySector(pending)) {
    const from = sector * SECTOR_BYTES;
    const kept = changes.slice(0, Math.floor(random() * (changes.length + 1)));
    if (from >= size || kept.length === 0) continue;
    sectorAfter(durable, kept, from).copy(result, from, 0, Math.min(size - from, SECTOR_BYTES));
  }
  return result;
}

/** Fills what was never synced with what another file left in such blocks, which may well be an older one of its kind. */
function spreadRemains(
  bytes: Buffer,
  from: number,
  remains: readonly Buffer[],
  random: () => number,
): void {
  const large = remains.filter(({ length }) => length >= bytes.length);
  const left =
    large[Math.floor(random() * large.length)] ?? remains[Math.floor(random() * remains.length)];
  if (left === undefined || random() < 0.2)
    for (let at = from; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
  else if (from < left.length) left.copy(bytes, from, from);
}

function changesBySector(pending: readonly BytesChange[]): Map<number, BytesChange[]> {
  const bySector = new Map<number, BytesChange[]>();
  for (const change of pending) {
    if (change.kind === "truncate") {
      for (const [sector, changes] of bySector)
        if ((sector + 1) * SECTOR_BYTES > change.length) changes.push(change);
      continue;
    }
    const end = change.offset + change.bytes.length;
    for (
      let sector = Math.floor(change.offset / SECTOR_BYTES);
      sector * SECTOR_BYTES < end;
      sector++
    ) {
      const changes = bySector.get(sector);
      if (changes === undefined) bySector.set(sector, [change]);
      else changes.push(change);
    }
  }
  return bySector;
}

/** The sector that begins at `from`, after these changes that touch it. */
function sectorAfter(
  durable: Buffer<ArrayBuffer>,
  changes: readonly BytesChange[],
  from: number,
): Buffer {
  const sector = Buffer.alloc(SECTOR_BYTES);
  if (from < durable.length) durable.copy(sector, 0, from, from + SECTOR_BYTES);
  for (const change of changes) {
    if (change.kind === "truncate") sector.fill(0, Math.max(0, change.length - from));
    else if (change.offset >= from) change.bytes.copy(sector, change.offset - from);
    else change.bytes.copy(sector, 0, from - change.offset);
  }
  return sector;
}
