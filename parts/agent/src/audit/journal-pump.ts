/** Sends what the node signed, in its order, until the log has it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CoordinatorClient } from "../bus/coordinator-client.ts";
import type { Wake } from "../wake.ts";
import type { SignedJournal } from "./signed-journal.ts";

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
const LOOK_MS = 5_000;

export type JournalPumpParts = {
  coordinator: Pick<CoordinatorClient, "audit">;
  journal: SignedJournal;
  /** Of the node: its own, and the intermediate's. */
  certChain: string;
  wake: Wake;
  log: Logger;
};

export async function pumpJournal(parts: JournalPumpParts, signal: AbortSignal): Promise<void> {
  const { coordinator, journal, certChain, wake, log } = parts;
  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; ) {
    const events = journal.next();
    if (events.length === 0) {
      await wake.within(LOOK_MS, signal);
      continue;
    }
    try {
      const { settledPseq, refused } = await coordinator.audit({
        certChain,
        boot: journal.boot,
        events,
      });
      if (refused !== null) throw new Error(`the log refuses what this node says: ${refused}`);
      journal.settle(settledPseq);
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      log.warn({ err: error }, "signed events wait for the log");
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    }
  }
}
