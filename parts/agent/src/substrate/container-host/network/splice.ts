import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/**
 * Copies bytes both ways until both directions have ended, no faster than the slower side takes them. An end is passed on as an end; what
 * breaks on one side is broken off on the other.
 */
export function splice(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on("error", () => breakOff(to));
    from.once("close", () => {
      // One that has said and heard everything may still be owed its last bytes by the other.
      if (!from.readableEnded || !from.writableFinished) breakOff(to);
    });
    from.pipe(to);
  }
}

/** Ends a connection by a reset where there can be one: half a message must not look like a whole one. */
export function breakOff(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
