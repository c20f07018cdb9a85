/** Listens on a unix socket of which only the folder's group may know. */
import { chmod, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import type { FastifyInstance } from "fastify";
import { ConfigError } from "../config.ts";

const OTHERS = 0o007;

/** @throws ConfigError when everybody could enter the socket's folder, or somebody answers there already */
export async function listenOnSocket(app: FastifyInstance, socket: string): Promise<void> {
  const folder = dirname(socket);
  if (((await stat(folder)).mode & OTHERS) !== 0)
    throw new ConfigError(`${folder} is open to everybody: its mode must be 0750`);
  if (await isAnswered(socket)) throw new ConfigError(`another process answers on ${socket}`);
  await rm(socket, { force: true });
  await app.listen({ path: socket });
  await chmod(socket, 0o660);
}

function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });
}
