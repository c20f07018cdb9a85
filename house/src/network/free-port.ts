/**
 * Ports for what a test starts. Linux gives its own choice of ports to every connection that goes out, so a port that it named a moment ago may be
 * somebody's by the time it is wanted. These lie below that range, and each is claimed until its process ends.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type ListenOptions, type Server } from "node:net";

const SINGLE = { from: 27_000, count: 1_000 };
const BLOCKS = { from: 28_000, count: 40, size: 25 };
const TRIES = 500;

/** One that nobody listens on at this address. @throws Error where there is none */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = SINGLE.from + randomInt(SINGLE.count);
    if ((await claims(port)) && (await isFree(port, host))) return port;
  }
  throw new Error(`no port of ${SINGLE.from} and the ${SINGLE.count} after it is free`);
}

/** Several in a row; who listens there finds out. @throws Error where there are none */
export async function freePorts(count: number): Promise<{ from: number; to: number }> {
  if (count > BLOCKS.size) throw new RangeError(`at most ${BLOCKS.size} ports in a row`);
  for (let tries = 0; tries < TRIES; tries++) {
    const from = BLOCKS.from + randomInt(BLOCKS.count) * BLOCKS.size;
    if (await claims(from)) return { from, to: from + count - 1 };
  }
  throw new Error(`no ${count} ports in a row are free`);
}

/** Claims a port by a socket of the kernel's own name space: of two processes one gets it, and its end gives it back. */
async function claims(port: number): Promise<boolean> {
  const claim = await listening({ path: `\0resontech-test-port-${port}` });
  claim?.unref();
  return claim !== null;
}

export async function isFree(port: number, host: string): Promise<boolean> {
  const server = await listening({ port, host });
  if (server === null) return false;
  server.close();
  await once(server, "close");
  return true;
}

/** Listens at that place; null where somebody else does already. */
async function listening(where: ListenOptions): Promise<Server | null> {
  const server = createServer().listen(where);
  try {
    await once(server, "listening");
    return server;
  } catch {
    return null;
  }
}
