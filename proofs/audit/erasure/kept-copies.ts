/**
 * What somebody kept from before an erasure: copies of the vault's keys, each under the key of its epoch, and an ordinary copy of
 * what it has sealed.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { filesBelow } from "./remnants.ts";
import { openBox } from "../instances/box.ts";
import type { Lock } from "./key-attack.ts";

export type SealedRow = { commitment: Buffer; subject: string; month: string; sealed: Buffer };
type CopiedKey = { subject: string; month: string; wrapped: string };
export type KeyCopy = {
  name: string;
  /** When it was made. */
  atMs: number;
  epoch: string;
  lock: Lock;
};

const LOOK_MS = 20;

export class KeptCopies {
  readonly folder: string;
  readonly #config: VaultConfig;

  constructor(folder: string, config: VaultConfig) {
    this.folder = folder;
    this.#config = config;
    for (const inner of ["keys", "sealed"]) mkdirSync(join(folder, inner));
  }

  /** As an ordinary backup does; of a vault that runs. */
  async keepSealed(): Promise<void> {
    const db = new Database(join(this.#config.dataDir, "sealed.sqlite"), { readonly: true });
    try {
      await db.backup(join(this.folder, "sealed", "sealed.sqlite"));
    } finally {
      db.close();
    }
  }

  /** Every copy of the keys that there is, and each one that is made until then. */
  async keepKeys(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await pause(LOOK_MS))
      for (const name of readdirSync(this.#config.backupsDir).filter((each) =>
        each.endsWith(".keys"),
      ))
        if (!existsSync(join(this.folder, "keys", name)))
          copyIfThere(join(this.#config.backupsDir, name), join(this.folder, "keys", name));
  }

  get sealed(): SealedRow[] {
    const db = new Database(join(this.folder, "sealed", "sealed.sqlite"), { readonly: true });
    try {
      return db
        .prepare<[], SealedRow>("SELECT commitment, subject, month, sealed FROM commitments")
        .all();
    } finally {
      db.close();
    }
  }

  get keyCopies(): KeyCopy[] {
    return filesBelow(join(this.folder, "keys")).map((name) =>
      keyCopyOf(name, readFileSync(join(this.folder, "keys", name))),
    );
  }
}

/** One line that says which epoch and when, then the rows as JSON, sealed. */
function keyCopyOf(name: string, bytes: Buffer): KeyCopy {
  const end = bytes.indexOf(0x0a) + 1;
  const { epoch, at } = JSON.parse(bytes.toString("utf8", 0, end)) as { epoch: string; at: string };
  const lock: Lock = {
    name,
    box: bytes.subarray(end),
    context: bytes.subarray(0, end),
    begins: Buffer.from('[{"subject":"'),
  };
  return { name, atMs: Date.parse(at), epoch, lock };
}

/** Of every person and month; what a copy has under the key-encryption key is unwrapped. */
export function keysOfCopy(
  { lock }: KeyCopy,
  epochKey: Uint8Array,
  kek: Uint8Array,
): Map<string, Buffer> {
  const rows = JSON.parse(
    openBox(epochKey, lock.box, lock.context).toString("utf8"),
  ) as CopiedKey[];
  return new Map(
    rows.map(({ subject, month, wrapped }) => {
      const name = `${subject}\n${month}`;
      return [name, openBox(kek, Buffer.from(wrapped, "base64"), Buffer.from(name))];
    }),
  );
}

/** The key of an epoch, as it lies wrapped and as it is. */
export function epochKeyIn(
  folder: string,
  epoch: string,
  kek: Uint8Array,
): { wrapped: Buffer; key: Buffer } {
  const wrapped = readFileSync(join(folder, `${epoch}.epoch`));
  return { wrapped, key: openBox(kek, wrapped, Buffer.from(`epoch\n${epoch}`)) };
}

/** Files of a folder as they are now, beside it: of what runs, each at its own moment. */
export function snapshot(folder: string, to: string): void {
  for (const name of filesBelow(folder)) {
    mkdirSync(join(to, name, ".."), { recursive: true });
    copyIfThere(join(folder, name), join(to, name));
  }
}

/** Ids of the epochs whose key is in a folder; a file of zeros is at its end. */
export function epochsIn(folder: string): string[] {
  return filesBelow(folder)
    .filter(
      (name) =>
        name.endsWith(".epoch") && readFileSync(join(folder, name)).some((byte) => byte !== 0),
    )
    .map((name) => basename(name, ".epoch"));
}

function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
