import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Another supervisor of this instance runs. */
export class AlreadyRunningError extends Error {
  readonly code = "already_running";
}

/**
 * The kernel's own lock on a file: it ends with the process that holds it, however that ends. Node has no flock(2); the lock belongs to the
 * open file, which the helper shares with us, so it stays with us when the helper has ended.
 *
 * @throws AlreadyRunningError
 */
export function takeInstanceLock(file: string): Disposable {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const fd = openSync(file, "a", 0o600);
  const asked = spawnSync("flock", ["--exclusive", "--nonblock", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
  if (asked.status !== 0) {
    closeSync(fd);
    if (asked.error !== undefined) throw asked.error;
    throw new AlreadyRunningError(`a supervisor holds ${file}`);
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}
