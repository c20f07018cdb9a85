import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";

/**
 * A folder whose owner makes a socket in it that its group may open. Set-group-id: the socket gets the group without the owner being a
 * member of it. What a killed process left is taken away: not every program replaces an old socket.
 */
export function makeSocketFolder(
  folder: string,
  { uid, gid }: { uid: number; gid: number },
  socket?: string,
): void {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, uid, gid);
  chmodSync(folder, 0o2750);
  if (socket !== undefined) rmSync(socket, { force: true });
}
