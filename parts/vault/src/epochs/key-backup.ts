/** A copy of the key table under an epoch's key: one line that says which and when, then the sealed rows. */
import { readFile } from "node:fs/promises";
import { replaceFile } from "@resontech/frame/durable-file";
import { seal, unseal } from "../keys/aead.ts";
import type { KeyRow } from "../keys/key-table.ts";

export type BackupHead = { v: 1; epoch: string; at: string };
type StoredRow = Omit<KeyRow, "wrapped"> & { wrapped: string };

/** The file is no copy of the keys, or was changed. */
export class BackupFault extends Error {
  override readonly name = "BackupFault";
  readonly code = "backup_fault";
}

export async function writeBackup(
  file: string,
  head: BackupHead,
  rows: readonly KeyRow[],
  epochKey: Uint8Array,
): Promise<void> {
  const line = Buffer.from(`${JSON.stringify(head)}\n`);
  const plain = Buffer.from(
    JSON.stringify(
      rows.map((row): StoredRow => ({ ...row, wrapped: row.wrapped.toString("base64") })),
    ),
  );
  await replaceFile(file, Buffer.concat([line, seal(epochKey, plain, line)]), 0o400);
}

/** @throws BackupFault */
export async function readHead(file: string): Promise<BackupHead> {
  return splitBackup(await readFile(file), file).head;
}

/** @throws BackupFault, UnsealError */
export async function readBackup(file: string, epochKey: Uint8Array): Promise<KeyRow[]> {
  const { line, sealed } = splitBackup(await readFile(file), file);
  const rows = JSON.parse(unseal(epochKey, sealed, line).toString("utf8")) as StoredRow[];
  return rows.map((row) => ({ ...row, wrapped: Buffer.from(row.wrapped, "base64") }));
}

function splitBackup(
  bytes: Buffer,
  file: string,
): { head: BackupHead; line: Buffer; sealed: Buffer } {
  const end = bytes.indexOf(0x0a) + 1;
  const match = /^\{"v":1,"epoch":"([0-9TZ]{1,32})","at":"([0-9T:.Z-]{24})"\}\n$/.exec(
    bytes.toString("latin1", 0, end),
  );
  if (end === 0 || match === null) throw new BackupFault(`${file} is no copy of the vault's keys`);
  const [, epoch = "", at = ""] = match;
  return { head: { v: 1, epoch, at }, line: bytes.subarray(0, end), sealed: bytes.subarray(end) };
}
