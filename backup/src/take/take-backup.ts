/**
 * One backup. Parts first, then the objects, then the manifest: what is cut before the manifest counts as no backup, and the next run removes it. Earlier
 * backups are not touched before the new one is whole.
 */
import { createHash, hkdfSync } from "node:crypto";
import { createReadStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { backupId } from "../decisions/backups-to-remove.ts";
import { manifestPath, namesPath } from "../manifest/backup-paths.ts";
import { FORMAT, type Manifest, type ManifestPart } from "../manifest/manifest.ts";
import { signManifest } from "../manifest/signed-manifest.ts";
import { copyObjects } from "../objects/copy-objects.ts";
import { LineFile } from "../objects/line-file.ts";
import { readKnown } from "../objects/known-objects.ts";
import { backupIds, objectNames, readManifest } from "../open/find-backups.ts";
import type { Part } from "../parts/part.ts";
import { type BackupKeys, recipientBytes, signerOf } from "../recovery-key.ts";
import type { Target } from "../targets/target.ts";
import { claimTarget, once } from "./claim-target.ts";
import { pruneTarget, removeOverdue } from "./prune-target.ts";
import { writePart } from "./write-part.ts";

const OBJECTS_PART = "objects";

export type TakeBackup = {
  target: Target;
  keys: BackupKeys;
  /** PKCS #8, Ed25519. */
  signingKeyPem: string;
  appliance: string;
  release: Manifest["release"];
  /** In the order in which they are read. */
  parts: readonly Part[];
  objects: {
    folder: string;
    /** What of it is copied. */
    below: readonly string[];
    /** Below the root, where they are put back. */
    path: string;
    xattrProgram: string;
  };
  /** Root's own; temporary copies, and what the last run knew. */
  workDir: string;
  /** How many of the newest backups stay. */
  keep: number;
  nowMs: number;
  onPart: (name: string) => void;
};

export type TakenBackup = {
  id: string;
  parts: number;
  /** Of the parts on the target. */
  bytes: number;
  objects: { count: number; bytes: number; writtenBytes: number };
  removed: string[];
  manifestSha256: string;
};

/** One at a time for a target: the caller holds a lock. @throws BackupError, and what a part throws */
export async function takeBackup(options: TakeBackup): Promise<TakenBackup> {
  const { target, keys, signingKeyPem, nowMs } = options;
  const recipient = recipientBytes(keys.recipient);
  const signer = signerOf(signingKeyPem);
  await claimTarget(target, options.appliance, signer);
  const overdue = await removeOverdue(target, nowMs);
  const id = backupId(nowMs);
  const parts: ManifestPart[] = [];
  for (const part of options.parts) {
    options.onPart(part.name);
    parts.push(await writePart(target, id, recipient, part));
  }
  options.onPart(OBJECTS_PART);
  const objects = await backUpObjects(options, id, { recipient, signer });
  const manifest: Manifest = {
    ...{ format: FORMAT, id, takenAt: new Date(nowMs).toISOString() },
    ...{ appliance: options.appliance, release: options.release, recipient: keys.recipient },
    parts: [...parts, objects.part],
    objects: objects.said,
  };
  const signed = signManifest(manifest, signingKeyPem);
  await target.put(manifestPath(id), once(signed));
  await objects.remember();
  const removed = await pruneTarget(target, { keep: options.keep, nowMs, signer });
  return {
    ...{ id, parts: manifest.parts.length },
    bytes: manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0),
    objects: { ...countOf(objects.said), writtenBytes: objects.writtenBytes },
    removed: [...overdue, ...removed],
    manifestSha256: createHash("sha256").update(signed).digest("hex"),
  };
}

function countOf({ count, bytes }: Manifest["objects"]): { count: number; bytes: number } {
  return { count, bytes };
}

type BackedUp = {
  part: ManifestPart;
  said: Manifest["objects"];
  writtenBytes: number;
  /** Once the backup is whole. */
  remember: () => Promise<void>;
};

async function backUpObjects(
  options: TakeBackup,
  id: string,
  { recipient, signer }: { recipient: Uint8Array; signer: string },
): Promise<BackedUp> {
  const { target, workDir, objects, signingKeyPem } = options;
  const knownFile = join(workDir, `known-${digest(target.name).slice(0, 16)}.jsonl`);
  const [indexFile, nextFile] = [join(workDir, "objects.index"), `${knownFile}.next`];
  const present = await presentOn(target, signer);
  const needed = new Set<string>();
  const [index, next] = [await LineFile.begin(indexFile), await LineFile.begin(nextFile)];
  const copied = await copyObjects({
    ...{ folder: objects.folder, below: objects.below, xattrProgram: objects.xattrProgram },
    ...{ target, recipient, present },
    nameKey: Buffer.from(hkdfSync("sha256", signingKeyPem, "", "names of objects", 32)),
    known: await readKnown(knownFile),
    onEntry: async (one) => {
      const name = one.entry.file?.object ?? null;
      if (name !== null) needed.add(name);
      await index.write(one.entry);
      await next.write(one);
    },
  });
  for (const file of [index, next]) await file.end();
  const names = Buffer.from([...needed].map((name) => `${name}\n`).join(""));
  await target.put(namesPath(id), once(names));
  const part = await writePart(target, id, recipient, {
    ...{ name: OBJECTS_PART, kind: "objects", path: objects.path },
    open: () => createReadStream(indexFile) as AsyncIterable<Buffer>,
  });
  await rm(indexFile, { force: true });
  return {
    part,
    said: { count: copied.count, bytes: copied.bytes, namesSha256: digest(names) },
    writtenBytes: copied.written.bytes,
    remember: () => rename(nextFile, knownFile),
  };
}

/** What whole backups need is whole on the target; what one left that was cut is written again. */
async function presentOn(target: Target, signer: string): Promise<Set<string>> {
  const names = new Set<string>();
  for (const id of await backupIds(target))
    for await (const name of objectNames(target, await readManifest(target, id, signer)))
      names.add(name);
  return names;
}

function digest(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
