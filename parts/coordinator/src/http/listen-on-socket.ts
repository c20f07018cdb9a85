import { chmod, lstat, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { FastifyInstance } from "fastify";

/** Who may open a socket: root alone, or the group of its folder as well, which is the front door. */
const OPEN_TO = {
  owner: { closedTo: 0o077, demand: "have mode 0700", socket: 0o600 },
  group: { closedTo: 0o007, demand: "be closed to others: 0750", socket: 0o660 },
} as const;

/** Listens on a Unix socket. What a killed process left is replaced. @throws when the folder lets others in */
export async function listenOnSocket(
  app: FastifyInstance,
  path: string,
  openTo: keyof typeof OPEN_TO = "group",
): Promise<void> {
  const { closedTo, demand, socket } = OPEN_TO[openTo];
  const folder = await lstat(dirname(path));
  if (!folder.isDirectory() || (folder.mode & closedTo) !== 0)
    throw new Error(`the folder of ${path} must ${demand}`);
  await rm(path, { force: true });
  await app.listen({ path });
  await chmod(path, socket);
}
