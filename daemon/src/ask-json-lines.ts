/** One question to another process of ours on its Unix socket: a JSON line asked, any number answered. */
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

/**
 * Line after line as they are given; who answers waits for who takes them.
 * @param silenceMs how long nothing may come
 * @throws what the socket or the JSON parser says, and after the silence; ENOENT or ECONNREFUSED when nobody is there
 */
export async function* askJsonLines(socketPath: string, request: object, silenceMs: number): AsyncGenerator<object> {
  const socket = createConnection(socketPath);
  try {
    socket.setTimeout(silenceMs, () => socket.destroy(new Error(`no answer for ${silenceMs / 1000} s`)));
    const failed = new Promise<never>((_, reject) => socket.once("error", reject));
    failed.catch(() => {});
    socket.end(`${JSON.stringify(request)}\n`);
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([lines.next(), failed]);
      if (next.done === true) return;
      yield JSON.parse(next.value) as object;
    }
  } finally {
    socket.destroy();
  }
}
