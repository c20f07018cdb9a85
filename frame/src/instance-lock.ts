/**
 * One process at a time works on a folder. The kernel keeps it, and a process that is killed loses it: what holds is a socket that answers, in a
 * folder `serving`, which gets its name by `rename` with the socket in it. A folder that holds anything is never replaced, so of several
 * that come at once one gets the name. Each socket's name is used once: one that nobody answers on never answers again, and whoever removes
 * it can't hit another's.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

const HELD = "serving";
/** Of one that has not got the name, or was killed before. */
const OWN = /^serving\.[0-9a-f]{16}$/;

/** Another process works on this folder. */
class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
  readonly code = "already_running";

  constructor(folder: string) {
    super(
      `another process works on ${folder}: it goes on, and this one ends; stop the other one first`,
    );
  }
}

/** Takes the lock as {@link tryInstanceLock} does. @throws AlreadyRunningError when another one holds */
export async function acquireInstanceLock(folder: string): Promise<Disposable> {
  const held = await tryInstanceLock(folder);
  if (held === null) throw new AlreadyRunningError(folder);
  return held;
}

/** Holds until it is disposed of, or the process ends, however it ends; by itself it keeps no process alive. Null when another one holds. */
export async function tryInstanceLock(folder: string): Promise<Disposable | null> {
  await using opened = await open(folder, "r");
  const id = randomBytes(8).toString("hex");
  const server = await heldIn(
    process.platform === "linux" ? `/proc/self/fd/${opened.fd}` : folder,
    id,
  );
  if (server === null) return null;
  return {
    [Symbol.dispose]: () => {
      server.close();
      // A copy of the folder need not stumble over it.
      rmSync(join(folder, HELD, id), { force: true });
    },
  };
}

/** @param folder short: the path of a socket has 107 bytes on Linux, 103 elsewhere, and this adds 42 */
async function heldIn(folder: string, id: string): Promise<Server | null> {
  const own = join(folder, `${HELD}.${id}`);
  const held = join(folder, HELD);
  await mkdir(own, { mode: 0o700 });
  const server = await listen(join(own, id));
  if (server === null) return null;
  const isHeld =
    (await isNamed(own, held)) || ((await isFreed(held)) && (await isNamed(own, held)));
  if (!isHeld) await new Promise((resolve) => server.close(resolve));
  for (const name of (await readdir(folder)).filter((name) => OWN.test(name)))
    if (await isFreed(join(folder, name))) await rmdir(join(folder, name)).catch(() => {});
  return isHeld ? server : null;
}

/** Listens on the path. Null when the folder is gone (EACCES, as libuv says it): the one that holds took it for one that was left. */
function listen(path: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error) => (codeOf(error) === "EACCES" ? resolve(null) : reject(error)));
    server.listen(path, () => resolve(server.unref()));
  });
}

async function isNamed(own: string, held: string): Promise<boolean> {
  try {
    await rename(own, held);
    return true;
  } catch (error) {
    // ENOENT: the one that holds asked for this one's socket before it took calls, and removed it.
    if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** Removes the sockets in it, unless one answers. */
async function isFreed(folder: string): Promise<boolean> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (await isAnswered(join(folder, name))) return false;
    await rm(join(folder, name), { force: true });
  }
  return true;
}

/** One that does not take the call at once may be busy, and holds. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error) => resolve(!["ECONNREFUSED", "ENOENT"].includes(codeOf(error))));
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
