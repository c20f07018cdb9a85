/** Where calls come in: a socket of the gateway's own, or one that was bound before and stays when this process ends. */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { Server as NetServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Connections that wait to be taken. The front door would refuse its callers where there is no more room; the kernel may hold this to less. */
const BACKLOG = 4_096;
/** Who has just connected says what it wants within so long. */
const SILENT_MS = 250;

/**
 * @param fd null: the path is made, and whatever lay there goes
 * @returns ends with the last call that it had
 */
export async function listen(
  server: Server,
  { path, fd }: { path: string; fd: number | null },
): Promise<AsyncDisposable> {
  if (fd === null) await rm(path, { force: true });
  server.listen({ ...(fd === null ? { path } : { fd }), backlog: BACKLOG });
  await once(server, "listening");
  // Its folder says who may enter.
  if (fd === null) await chmod(path, 0o660);
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      // Not HTTP's own: that one hangs up on whoever has connected and was not read yet.
      NetServer.prototype.close.call(server);
      server.on("request", (_request, response) => response.setHeader("connection", "close"));
      await Promise.race([sleep(SILENT_MS), closed]);
      server.close();
      await closed;
    },
  };
}
