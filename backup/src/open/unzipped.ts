import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BackupError } from "../backup-error.ts";

/** @param path for messages @throws BackupError `backup_damaged` */
export async function* unzipped(
  source: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  const readable = Readable.from(source, { objectMode: false });
  readable.on("error", (error) => gunzip.destroy(error));
  try {
    yield* readable.pipe(gunzip) as AsyncIterable<Buffer>;
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError("backup_damaged", `${path} can't be unpacked`, { cause });
  } finally {
    // A pipe leaves its source open when its end goes away.
    readable.destroy();
  }
}
