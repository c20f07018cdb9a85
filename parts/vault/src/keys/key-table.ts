/** `keys.sqlite`: a random key for each subject and month, wrapped. Its destruction is what erases. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { openDatabase } from "@resontech/frame/open-database";
import type Database from "better-sqlite3";
import { scrub } from "@resontech/audit/scrub/scrub";
import { KEYS_MIGRATIONS } from "../db/keys-migrations.ts";
import { KEY_BYTES } from "./aead.ts";
import type { KeyEncryptionKey } from "./key-encryption-key.ts";

export type KeyName = { subject: string; month: string };
export type KeyRow = KeyName & { wrapped: Buffer; madeAt: number };

/** Unwrapped keys that are remembered; a wrapped one may be a module's slow work. */
const MAX_REMEMBERED = 4_096;
/** Stands in `meta`, and in copies as a key of nobody's. */
const TOKEN_KEY: KeyName = { subject: "", month: "token" };
const COLUMNS = "subject, month, wrapped, made_at AS madeAt";

export class KeyTable implements Disposable {
  readonly #db: Database.Database;
  readonly #kek: KeyEncryptionKey;
  readonly #remembered = new Map<string, Buffer>();

  private constructor(db: Database.Database, kek: KeyEncryptionKey) {
    this.#db = db;
    this.#kek = kek;
  }

  /** @param openKek is told whether no key lies under one yet */
  static async open(
    folder: string,
    openKek: (isEmpty: boolean) => Promise<KeyEncryptionKey>,
  ): Promise<KeyTable> {
    const db = openDatabase(join(folder, "keys.sqlite"), KEYS_MIGRATIONS, { spillsNothing: true });
    try {
      const isEmpty =
        db.prepare("SELECT 1 FROM keys UNION SELECT 1 FROM meta LIMIT 1").get() === undefined;
      return new KeyTable(db, await openKek(isEmpty));
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** The key of a subject's month, made and durable where there is none. */
  async keyFor(name: KeyName): Promise<Buffer> {
    const existing = await this.find(name);
    if (existing !== null) return existing;
    const key = randomBytes(KEY_BYTES);
    const wrapped = await this.#kek.wrap(key, purposeOf(name));
    this.#insert({ ...name, wrapped, madeAt: Date.now() });
    return this.#remember(name, key);
  }

  /** Null when it was destroyed, or never made. @throws UnsealError */
  async find(name: KeyName): Promise<Buffer | null> {
    const remembered = this.#remembered.get(purposeOf(name));
    if (remembered !== undefined) return remembered;
    const row = this.#row(name);
    return row === undefined
      ? null
      : this.#remember(name, await this.#kek.unwrap(row.wrapped, purposeOf(name)));
  }

  /** All that a copy must hold: the key of tokens, too. */
  rows(): KeyRow[] {
    const tokens = this.#wrappedTokenKey;
    return [
      ...(tokens === undefined ? [] : [{ ...TOKEN_KEY, wrapped: tokens, madeAt: 0 }]),
      ...this.#db
        .prepare<unknown[], KeyRow>(`SELECT ${COLUMNS} FROM keys ORDER BY subject, month`)
        .all(),
    ];
  }

  rowsOf(subject: string): KeyRow[] {
    return this.#db
      .prepare<unknown[], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE subject = ? ORDER BY month`)
      .all(subject);
  }

  /** When the oldest of these was made; null when none is left. */
  madeAtOf(names: readonly KeyName[]): number | null {
    const times = names.flatMap((name) => this.#row(name)?.madeAt ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  wrappedOf(names: readonly KeyName[]): Buffer[] {
    return names.flatMap((name) => this.#row(name)?.wrapped ?? []);
  }

  /** Oldest months first. */
  namesBefore(month: string): KeyName[] {
    return this.#db
      .prepare<unknown[], KeyName>(
        "SELECT subject, month FROM keys WHERE month < ? ORDER BY month, subject",
      )
      .all(month);
  }

  /** Puts back a key from a backup; one that is there stays. */
  restore(row: KeyRow): boolean {
    if (purposeOf(row) !== purposeOf(TOKEN_KEY)) return this.#insert(row) === 1;
    if (this.#wrappedTokenKey !== undefined) return false;
    this.#insertTokenKey(row.wrapped);
    return true;
  }

  /** Durable when it returns; {@link scrub} takes what was there out of the files. */
  destroy(names: readonly KeyName[]): void {
    const remove = this.#db.prepare("DELETE FROM keys WHERE subject = ? AND month = ?");
    this.#db.transaction(() => {
      for (const { subject, month } of names) remove.run(subject, month);
    })();
    for (const name of names) {
      this.#remembered.get(purposeOf(name))?.fill(0);
      this.#remembered.delete(purposeOf(name));
    }
  }

  get count(): number {
    return this.#db.prepare<[], number>("SELECT count(*) FROM keys").pluck().get() ?? 0;
  }

  scrub(): void {
    scrub(this.#db);
  }

  /** The one key that tokens are made with. */
  async tokenKey(): Promise<Buffer> {
    const remembered = this.#remembered.get(purposeOf(TOKEN_KEY));
    if (remembered !== undefined) return remembered;
    const wrapped = this.#wrappedTokenKey;
    if (wrapped !== undefined)
      return this.#remember(TOKEN_KEY, await this.#kek.unwrap(wrapped, purposeOf(TOKEN_KEY)));
    const key = randomBytes(KEY_BYTES);
    this.#insertTokenKey(await this.#kek.wrap(key, purposeOf(TOKEN_KEY)));
    return this.#remember(TOKEN_KEY, key);
  }

  [Symbol.dispose](): void {
    for (const key of this.#remembered.values()) key.fill(0);
    this.#db.close();
  }

  #row({ subject, month }: KeyName): KeyRow | undefined {
    return this.#db
      .prepare<unknown[], KeyRow>(`SELECT ${COLUMNS} FROM keys WHERE subject = ? AND month = ?`)
      .get(subject, month);
  }

  get #wrappedTokenKey(): Buffer | undefined {
    return this.#db
      .prepare<[], Buffer>("SELECT value FROM meta WHERE name = 'token-key'")
      .pluck()
      .get();
  }

  #insertTokenKey(wrapped: Buffer): void {
    this.#db.prepare("INSERT INTO meta (name, value) VALUES ('token-key', ?)").run(wrapped);
  }

  #insert({ subject, month, wrapped, madeAt }: KeyRow): number {
    return this.#db
      .prepare(
        "INSERT INTO keys (subject, month, wrapped, made_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      )
      .run(subject, month, wrapped, madeAt).changes;
  }

  #remember(name: KeyName, key: Buffer): Buffer {
    if (this.#remembered.size >= MAX_REMEMBERED) {
      const [oldest] = this.#remembered.keys();
      if (oldest !== undefined) this.#remembered.delete(oldest);
    }
    this.#remembered.set(purposeOf(name), key);
    return key;
  }
}

function purposeOf({ subject, month }: KeyName): string {
  return `${subject}\n${month}`;
}
