import { findStale } from "../fetch/debian.ts";
import { LockStaleError, type LockFile } from "../lock/lock-file.ts";
import { DEBIAN_ROOTS, WHEEL_SETS } from "../lock/roots.ts";

/**
 * Whether a build could still fetch what the lock pins: Debian's mirrors alone forget.
 * @returns the number of pins looked at
 * @throws LockStaleError
 */
export async function checkLock(lock: LockFile): Promise<number> {
  const [roots, sets] = [Object.keys(lock.deb), Object.keys(lock.pypi)].map((names) =>
    names.sort().join(),
  );
  if (
    roots !== Object.keys(DEBIAN_ROOTS).sort().join() ||
    sets !== Object.keys(WHEEL_SETS).sort().join()
  )
    throw new Error("the lock has other sets than the builder asks for: run `airgap lock refresh`");
  const pins = new Map(
    Object.values(lock.deb).flatMap((set) =>
      set.map((pin) => [`${pin.name}=${pin.version}`, pin] as const),
    ),
  );
  const stale = await findStale([...pins.values()]);
  if (stale.length > 0) throw new LockStaleError(stale);
  return pins.size + Object.values(lock.pypi).flat().length;
}
