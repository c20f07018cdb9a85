import { BackupError } from "../backup-error.ts";

/** Where backups lie. What is put has its name whole or not at all, and is durable then. */
export interface Target {
  /** As a person named it. */
  readonly name: string;
  /** Replaces what had the name. @throws BackupError `backup_target` */
  put(path: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** @throws BackupError `backup_missing`, `backup_target` */
  get(path: string): AsyncIterable<Uint8Array>;
  /** Every path below a folder, in no order; none where there is no such folder. @throws BackupError `backup_target` */
  list(folder: string): AsyncIterable<string>;
  /** One that is gone is removed. @throws BackupError `backup_target` */
  remove(path: string): Promise<void>;
}

/** A small thing as a whole. @throws BackupError `backup_damaged` where it is larger than that */
export async function readSmall(
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new BackupError("backup_damaged", `a file is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a small file; null where it is missing. @throws BackupError */
export async function readIfThere(
  target: Pick<Target, "get">,
  path: string,
  maxBytes: number,
): Promise<Buffer | null> {
  try {
    return await readSmall(target.get(path), maxBytes);
  } catch (error) {
    if (error instanceof BackupError && error.code === "backup_missing") return null;
    throw error;
  }
}
