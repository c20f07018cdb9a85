/** A backup that is read: nothing of it is believed before its hash, in a manifest that this appliance signed, has been met. */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { decryptWith } from "../age/decrypt-with.ts";
import { BackupError } from "../backup-error.ts";
import { partPath } from "../manifest/backup-paths.ts";
import type { Manifest, ManifestPart } from "../manifest/manifest.ts";
import { objectPath } from "../objects/object-entry.ts";
import type { RecoveryKey } from "../recovery-key.ts";
import type { Target } from "../targets/target.ts";
import { backupIds, readManifest } from "./find-backups.ts";
import { unzipped } from "./unzipped.ts";

export class OpenedBackup {
  readonly manifest: Manifest;
  readonly #target: Target;
  readonly #key: RecoveryKey;

  private constructor(target: Target, manifest: Manifest, key: RecoveryKey) {
    this.#target = target;
    this.manifest = manifest;
    this.#key = key;
  }

  /**
   * @param id null: the newest
   * @throws BackupError `backup_missing`, `backup_forged`, `backup_format`, `backup_key_wrong`
   */
  static async open(target: Target, id: string | null, key: RecoveryKey): Promise<OpenedBackup> {
    const found = id ?? (await backupIds(target))[0];
    if (found === undefined)
      throw new BackupError("backup_missing", `${target.name} holds no whole backup`);
    const manifest = await readManifest(target, found, key.signer);
    if (manifest.recipient !== key.recipient)
      throw new BackupError(
        "backup_key_wrong",
        `the backup ${found} was made for ${manifest.recipient}, and this key opens ${key.recipient}`,
      );
    return new OpenedBackup(target, manifest, key);
  }

  /** What a part holds; that it was changed is known at its end at the latest. @throws BackupError `backup_damaged` */
  async *read(part: ManifestPart): AsyncGenerator<Uint8Array> {
    const path = partPath(this.manifest.id, part.name);
    const file = met(this.#target.get(path), { sha256: part.sha256, bytes: part.bytes }, path);
    const packed = decryptWith(this.#key.secret, file, path);
    yield* met(unzipped(packed, path), part.content, path);
  }

  /** Into a file that is not there yet. @throws BackupError `backup_damaged` */
  async readInto(part: ManifestPart, file: string): Promise<void> {
    const into = createWriteStream(file, { mode: 0o600, flags: "wx", flush: true });
    await pipeline(Readable.from(this.read(part)), into);
  }

  /** @param file of an entry of the index @throws BackupError `backup_damaged`, `backup_missing` */
  async *readObject(file: {
    bytes: number;
    sha256: string;
    object: string | null;
  }): AsyncGenerator<Uint8Array> {
    if (file.object === null) return;
    const path = objectPath(file.object);
    yield* met(decryptWith(this.#key.secret, this.#target.get(path), path), file, path);
  }
}

/** Passes on what comes, and throws at its end where that was not what it must be. */
async function* met(
  source: AsyncIterable<Uint8Array>,
  { sha256, bytes }: { sha256: string; bytes: number },
  path: string,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let seen = 0;
  for await (const chunk of source) {
    seen += chunk.length;
    if (seen > bytes) break;
    hash.update(chunk);
    yield chunk;
  }
  if (seen !== bytes || hash.digest("hex") !== sha256)
    throw new BackupError("backup_damaged", `${path} is not what the backup wrote`);
}
