import type { Duplex } from "node:stream";

/** Waits until the socket has closed, by whichever side and however: `once` is refused where the other side reset the connection. */
export async function untilClosed(socket: Duplex): Promise<void> {
  if (socket.closed) return;
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}
