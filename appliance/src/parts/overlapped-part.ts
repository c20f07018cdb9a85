/** A part whose next one starts beside it: it ends once that one runs, so that no caller finds its port closed. */
import { existsSync, renameSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Layout } from "@resontech/frame/layout";
import type { Part } from "./part.ts";
import { endLeftover, signalRecorded } from "./process-identity.ts";

/** The next one listens by then, or has failed to. */
const SETTLE_MS = 500;
/** Calls that it has taken come to their end meanwhile. */
const DRAIN_MS = 5_000;

/** Names what was set aside. */
export const asideFile = (layout: Layout, part: string): string => layout.run(`${part}.before.pid`);

/**
 * @param part a process that shares its port with another of its user
 * @param drain makes it take no more calls, and end when it has none
 */
export function overlappedPart(part: Part, layout: Layout, drain: NodeJS.Signals): Part {
  const pidFile = layout.run(`${part.name}.pid`);
  const aside = asideFile(layout, part.name);
  const endAside = (): Promise<void> =>
    endLeftover(aside, { graceMs: DRAIN_MS, stopSignal: "SIGTERM", wholeGroup: true });
  return {
    ...part,
    endLeftover: async () => {
      await endAside();
      await part.endLeftover();
    },
    setAside: async () => {
      // One that an earlier start has set aside goes on where none has taken its place since.
      if (existsSync(pidFile)) {
        await endAside();
        renameSync(pidFile, aside);
      }
      return async () => {
        if (!existsSync(aside)) return;
        await sleep(SETTLE_MS);
        // It is this start's own: without it the next one has failed, and what was there goes on.
        if (!existsSync(pidFile)) return;
        signalRecorded(aside, drain);
        await sleep(DRAIN_MS);
        await endAside();
      };
    },
  };
}
