import { chmodSync, chownSync, mkdirSync } from "node:fs";

/**
 * A folder whose owner makes a socket in it that its group may open. Set-group-id: the socket gets the group without the owner being a
 * member of it.
 *
 * @param isRoots nobody but root asks: the group may do nothing
 */
export function makeSocketFolder(
  folder: string,
  { uid, gid }: { uid: number; gid: number },
  isRoots = false,
): void {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, uid, gid);
  chmodSync(folder, isRoots ? 0o2700 : 0o2750);
}
