/** The notifier's two sockets: whoever can open one is let in by its folder, and asks one JSON line a connection. */
import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import {
  MailRequest,
  type NotifierReply,
  NotifierRequest,
} from "@resontech/contracts/notifier-protocol";
import { type TSchema, type Static } from "typebox";
import { Value } from "typebox/value";
import { connectionError } from "./delivery-error.ts";
import type { Notifier } from "./notifier.ts";

const MAX_LINE_BYTES = 32 * 1024;
const IDLE_MS = 30_000;

type Handler<S extends TSchema> = {
  schema: S;
  answer: (request: Static<S>) => Promise<NotifierReply>;
};

export async function listenControl(path: string, notifier: Notifier): Promise<AsyncDisposable> {
  return await listen(path, {
    schema: NotifierRequest,
    answer: async (request) => {
      if (request.verb === "status") return { ok: true, verb: "status", ...notifier.status() };
      await notifier.test(request.name);
      return { ok: true, verb: "test" };
    },
  });
}

export async function listenForMail(path: string, notifier: Notifier): Promise<AsyncDisposable> {
  return await listen(path, {
    schema: MailRequest,
    answer: async (request) => {
      await notifier.mail(request);
      return { ok: true, verb: "mail" };
    },
  });
}

async function listen<S extends TSchema>(
  path: string,
  handler: Handler<S>,
): Promise<AsyncDisposable> {
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    void serve(socket, handler).catch(() => socket.destroy());
  });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o660);
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function serve<S extends TSchema>(
  socket: Socket,
  { schema, answer }: Handler<S>,
): Promise<void> {
  let line = "";
  // The end of the loop must not end the answer.
  for await (const chunk of socket.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    line += String(chunk);
    if (line.includes("\n") || line.length > MAX_LINE_BYTES) break;
  }
  const reply = await replyTo(line.split("\n", 1)[0] ?? "", schema, answer);
  if (!socket.destroyed) socket.end(`${JSON.stringify(reply)}\n`);
}

async function replyTo<S extends TSchema>(
  line: string,
  schema: S,
  answer: Handler<S>["answer"],
): Promise<NotifierReply> {
  let request: unknown;
  try {
    request = JSON.parse(line);
  } catch {
    request = null;
  }
  if (!Value.Check(schema, request))
    return {
      ok: false,
      error: { code: "unknown_request", message: "this is no request that the notifier knows" },
    };
  try {
    return await answer(request);
  } catch (error) {
    const { code, message } = connectionError(error);
    return { ok: false, error: { code, message } };
  }
}
