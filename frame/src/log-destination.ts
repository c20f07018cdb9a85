import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** A full disk costs the line, never the process: pino's own destination throws then, and its `fatal` waits for space without end. */
export function logDestination(fd: number): DestinationStream {
  return {
    write: (line) => {
      try {
        writeSync(fd, line);
      } catch {
        // There is nowhere else to say it.
      }
    },
  };
}
