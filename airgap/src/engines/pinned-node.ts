import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LockFile } from "../lock/lock-file.ts";

/** The Node that everything runs on: the locked npm package's binary, checked against the lock's digest. */
export function pinnedNode(lock: LockFile): string {
  const pin = lock.npm["node"];
  if (pin === undefined) throw new Error("the lock has no Node");
  const file = join(import.meta.dirname, "..", "..", "..", "node_modules", pin.package, pin.file);
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  if (sha256 !== pin.sha256)
    throw new Error(
      `${pin.package} ${pin.file} has SHA-256 ${sha256}, the lock says ${pin.sha256}`,
    );
  return file;
}
