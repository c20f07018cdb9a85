import type { Duplex } from "node:stream";

/**
 * Copies bytes both ways until both directions have ended, no faster than the slower side takes them. An end is passed on as an end; what
 * breaks on one side is broken off on the other.
 */
export function splice(a: Duplex, b: Duplex): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on("error", () => to.destroy());
    from.once("close", () => {
      // One that has said and heard everything may still be owed its last bytes by the other.
      if (!from.readableEnded || !from.writableFinished) to.destroy();
    });
    from.pipe(to);
  }
}
