/**
 * Copies of the key table that end by themselves: an epoch's key makes copies for a week or so, and is destroyed within 30 days of its making. What
 * was erased meanwhile can be opened from no copy after that.
 */
import { hash } from "node:crypto";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type Database from "better-sqlite3";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { syncFolder } from "@resontech/frame/durable-file";
import type { KeyEncryptionKey } from "../keys/key-encryption-key.ts";
import type { KeyTable } from "../keys/key-table.ts";
import { destroyEpochKey, makeEpochKey, readEpochKey } from "./epoch-file.ts";
import { writeBackup } from "./key-backup.ts";

type Epoch = { id: string; madeAt: number; endsAt: number; backedUpAt: number | null };
type Settings = Pick<VaultConfig, "epochsDir" | "backupsDir" | "epochMs" | "epochLifeMs">;

export class Epochs {
  readonly #settings: Settings;
  readonly #db: Database.Database;
  readonly #keys: KeyTable;
  readonly #kek: KeyEncryptionKey;
  /** SHA-256 of the rows that the newest copy holds. */
  #copied = "";

  constructor(settings: Settings, db: Database.Database, keys: KeyTable, kek: KeyEncryptionKey) {
    this.#settings = settings;
    this.#db = db;
    this.#keys = keys;
    this.#kek = kek;
  }

  /** Living epochs, oldest first. */
  get living(): Epoch[] {
    return this.#db
      .prepare<[], Epoch>(
        "SELECT id, made_at AS madeAt, ends_at AS endsAt, backed_up_at AS backedUpAt FROM epochs ORDER BY made_at",
      )
      .all();
  }

  /** Destroys the keys of epochs that are over, and their copies, which nothing opens any more. */
  async endOverdue(nowMs: number): Promise<void> {
    for (const { id, endsAt } of this.living) {
      if (endsAt > nowMs) continue;
      await destroyEpochKey(this.#settings.epochsDir, id);
      await this.#removeCopies(id, null);
      this.#db.prepare("DELETE FROM epochs WHERE id = ?").run(id);
    }
  }

  /** Copies the keys, where they changed since the last copy. */
  async backUp(nowMs: number): Promise<void> {
    const rows = this.#keys.rows();
    const digest = hash(
      "sha256",
      JSON.stringify(rows.map(({ subject, month, madeAt }) => [subject, month, madeAt])),
    );
    const { id, isNew } = await this.#current(nowMs);
    if (digest === this.#copied && !isNew) return;
    const at = new Date(nowMs).toISOString();
    const name = `${id}.${compact(at)}.keys`;
    const key = await readEpochKey(this.#settings.epochsDir, id, this.#kek);
    // First: whoever asks until when a key can be had must not hear too early a day.
    this.#db.prepare("UPDATE epochs SET backed_up_at = ? WHERE id = ?").run(nowMs, id);
    try {
      await writeBackup(join(this.#settings.backupsDir, name), { v: 1, epoch: id, at }, rows, key);
    } finally {
      key.fill(0);
    }
    await this.#removeCopies(id, name);
    this.#copied = digest;
  }

  /** When the last epoch ends that may have copied a key made at `madeAtMs`; null when none has. */
  endOfCopies(madeAtMs: number): number | null {
    const holding = this.living.filter(
      ({ backedUpAt }) => backedUpAt !== null && backedUpAt >= madeAtMs,
    );
    return holding.length === 0 ? null : Math.max(...holding.map(({ endsAt }) => endsAt));
  }

  async #current(nowMs: number): Promise<{ id: string; isNew: boolean }> {
    const newest = this.living.at(-1);
    if (newest !== undefined && nowMs < newest.madeAt + this.#settings.epochMs)
      return { id: newest.id, isNew: false };
    const id = compact(new Date(nowMs).toISOString());
    // The row first: a key that nobody knows of would never be destroyed.
    this.#db
      .prepare("INSERT INTO epochs (id, made_at, ends_at) VALUES (?, ?, ?)")
      .run(id, nowMs, nowMs + this.#settings.epochLifeMs);
    await makeEpochKey(this.#settings.epochsDir, id, this.#kek);
    return { id, isNew: true };
  }

  /** All copies of an epoch but one. */
  async #removeCopies(id: string, keep: string | null): Promise<void> {
    const { backupsDir } = this.#settings;
    const stale = (await readdir(backupsDir)).filter(
      (name) => name.startsWith(`${id}.`) && name !== keep,
    );
    for (const name of stale) await unlink(join(backupsDir, name));
    if (stale.length > 0) await syncFolder(backupsDir);
  }
}

/** Shortens an instant for names of files. */
function compact(instant: string): string {
  return instant.replaceAll(/[-:.]/g, "");
}
