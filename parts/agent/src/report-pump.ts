/** Sends spooled reports, each member's in order, until the coordinator has committed them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CoordinatorClient } from "./bus/coordinator-client.ts";
import type { MemberJournal } from "./members/member-journal.ts";
import { Wake } from "./wake.ts";

const MAX_REPORTS = 128;
const RETRY_MS = 500;
const LOOK_MS = 5_000;

export type PumpParts = {
  coordinator: Pick<CoordinatorClient, "report">;
  journals: () => MemberJournal[];
  /** Its fence was withdrawn: no report of it will ever be taken. */
  onStale: (member: string) => void;
  log: Logger;
};

export class ReportPump {
  readonly #parts: PumpParts;
  readonly #wake = new Wake();

  constructor(parts: PumpParts) {
    this.#parts = parts;
  }

  /** There is something to send. */
  wake(): void {
    this.#wake.now();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waiting = this.#parts.journals().filter(({ state }) => state.pending.length > 0);
      // One member's trouble (a report that is refused) must not hold back another's.
      const sent = await Promise.all(waiting.map((journal) => this.#send(journal)));
      if (sent.includes(false)) await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      else if (sent.length === 0) await this.#wake.within(LOOK_MS, signal);
    }
  }

  /** False when it must be tried again. */
  async #send(journal: MemberJournal): Promise<boolean> {
    const { coordinator, onStale, log } = this.#parts;
    const { member } = journal.state.desired;
    try {
      const { results } = await coordinator.report(journal.state.pending.slice(0, MAX_REPORTS));
      journal.settle(results.length);
      if (results.includes("stale")) onStale(member);
      return true;
    } catch (error) {
      log.warn({ err: error, member }, "reports wait for the coordinator");
      return false;
    }
  }
}
