/** How a file that holds a key ends. */
import { constants } from "node:fs";
import { chmod, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "@resontech/frame/durable-file";

/** Overwritten in place, then gone; one that is gone already is. */
export async function destroyFile(path: string): Promise<void> {
  try {
    await chmod(path, 0o600);
    await using handle = await open(path, constants.O_RDWR);
    const { size } = await handle.stat();
    await handle.write(Buffer.alloc(size), 0, size, 0);
    await handle.sync();
    await handle.truncate(0);
    await handle.sync();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  await unlink(path);
  await syncFolder(dirname(path));
}
