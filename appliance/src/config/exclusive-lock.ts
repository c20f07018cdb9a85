import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Somebody else holds the lock; `message` says what it is for. */
export class AlreadyRunningError extends Error {
  readonly code = "already_running";
}

const FLOCK_ARGS = ["--exclusive", "--nonblock", "3"];

/**
 * The kernel's own lock on a file: it ends with the process that holds it, however that ends. Node has no flock(2); the lock belongs to the
 * open file, which the helper shares with us, so it stays with us when the helper has ended.
 *
 * @param holder who holds it, as a person would say: "a supervisor", "another install"
 * @param helpers where the release's `rt-lock` may be; the host's flock(1) is the last resort
 * @throws AlreadyRunningError
 */
export function takeExclusiveLock(
  file: string,
  holder: string,
  helpers: readonly string[],
): Disposable {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const fd = openSync(file, "a", 0o600);
  const own = helpers.find((helper) => existsSync(helper));
  const [program, args] = own === undefined ? ["flock", FLOCK_ARGS] : [own, []];
  const asked = spawnSync(program, args, { stdio: ["ignore", "ignore", "ignore", fd] });
  if (asked.status !== 0) {
    closeSync(fd);
    if (asked.error !== undefined) throw asked.error;
    throw new AlreadyRunningError(`${holder} holds ${file}`);
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}
