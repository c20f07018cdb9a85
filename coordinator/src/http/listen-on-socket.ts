import { chmod, lstat, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { FastifyInstance } from "fastify";

/**
 * Listens on a Unix socket that its folder's owner and group may open: the coordinator and the front door. What a killed process left is
 * replaced. @throws when the folder lets others in
 */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  const folder = await lstat(dirname(path));
  if (!folder.isDirectory() || (folder.mode & 0o007) !== 0)
    throw new Error(`the folder of ${path} must be closed to others: 0750`);
  await rm(path, { force: true });
  await app.listen({ path });
  await chmod(path, 0o660);
}
