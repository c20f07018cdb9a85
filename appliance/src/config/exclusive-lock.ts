import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Somebody else holds the lock; `message` says what it is for. */
export class AlreadyRunningError extends Error {
  readonly code = "already_running";
}

/**
 * The kernel's own lock on a file: it ends with the process that holds it, however that ends. Node has no flock(2); the lock belongs to the
 * open file, which the helper shares with us, so it stays with us when the helper has ended.
 *
 * @param holder who holds it, as a person would say: "a supervisor", "another install"
 * @throws AlreadyRunningError
 */
export function takeExclusiveLock(file: string, holder: string): Disposable {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const fd = openSync(file, "a", 0o600);
  const asked = spawnSync("flock", ["--exclusive", "--nonblock", "3"], {
    stdio: ["ignore", "ignore", "ignore", fd],
  });
  if (asked.status !== 0) {
    closeSync(fd);
    if (asked.error !== undefined) throw asked.error;
    throw new AlreadyRunningError(`${holder} holds ${file}`);
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}
