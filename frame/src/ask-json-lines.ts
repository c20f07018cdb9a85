/** One question to another process of ours on its Unix socket: a JSON line asked, any number answered. */
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

/**
 * Line after line as they are given; who answers waits for who takes them.
 * @param silenceMs how long nothing may come
 * @throws what the socket or the JSON parser says, and after the silence; ENOENT or ECONNREFUSED when nobody is there
 */
export async function* askJsonLines(
  socketPath: string,
  request: object,
  silenceMs: number,
): AsyncGenerator<object> {
  const socket = createConnection(socketPath);
  try {
    socket.setTimeout(silenceMs, () =>
      socket.destroy(new Error(`no answer for ${silenceMs / 1000} s`)),
    );
    const lines = createInterface({ input: socket });
    // The socket's errors are these lines' as well: they end the loop, and are nobody's once it has ended.
    lines.on("error", () => {});
    socket.end(`${JSON.stringify(request)}\n`);
    for await (const line of lines) yield JSON.parse(line) as object;
  } finally {
    socket.destroy();
  }
}
