import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

/** Where the pool of this run listens; unset where there is none. */
export const POOL_VARIABLE = "RT_TEST_POOL";

/** Where a Keycloak of the pool is. */
export type KeycloakPlace = {
  port: number;
  managementPort: number;
  /** What browsers call it by; its door opens at this port. */
  origin: string;
  certFile: string;
  keyFile: string;
};

export type Lease = { place: KeycloakPlace; socket: Socket };

/**
 * Waits until one is free. Null where this run has no pool, or has one no more.
 * @throws Error with what kept the pool from it
 */
export async function leaseKeycloak(): Promise<Lease | null> {
  const path = process.env[POOL_VARIABLE];
  if (path === undefined) return null;
  const socket = connect(path);
  const line = await firstLine(socket);
  if (line === null) return null;
  const said = JSON.parse(line) as KeycloakPlace | { error: string };
  if ("error" in said) throw new Error(`the pool has no Keycloak: ${said.error}`);
  // A file that forgets to give back ends all the same.
  socket.unref();
  return { place: said, socket };
}

/** Reads what the pool answers; null where it is gone before it has answered. */
async function firstLine(socket: Socket): Promise<string | null> {
  const lines = createInterface(socket);
  const gone = new Promise<null>((resolve) => {
    socket.once("error", () => resolve(null));
    lines.once("close", () => resolve(null));
  });
  const line = await Promise.race([once(lines, "line").then(([text]) => text as string), gone]);
  if (line === null) socket.destroy();
  return line;
}
