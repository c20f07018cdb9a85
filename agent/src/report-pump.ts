/** Sends spooled reports in order until the coordinator has committed them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MemberReport } from "@resontech/contracts/agent-protocol";
import type { Logger } from "pino";
import type { CoordinatorClient } from "./bus/coordinator-client.ts";
import type { Member } from "./members/member.ts";

const MAX_REPORTS = 128;
const RETRY_MS = 500;

export class ReportPump {
  readonly #coordinator: CoordinatorClient;
  readonly #members: () => Iterable<Member>;
  readonly #onStale: (member: Member) => void;
  readonly #log: Logger;
  #wake: (() => void) | null = null;

  constructor(options: {
    coordinator: CoordinatorClient;
    members: () => Iterable<Member>;
    onStale: (member: Member) => void;
    log: Logger;
  }) {
    this.#coordinator = options.coordinator;
    this.#members = options.members;
    this.#onStale = options.onStale;
    this.#log = options.log;
  }

  /** There is something to send. */
  wake(): void {
    this.#wake?.();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const batch = this.#next();
      if (batch.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        // What was spooled between looking and waiting is found at the latest a second later.
        await Promise.race([promise, sleep(1_000, undefined, { signal }).catch(() => undefined)]);
        this.#wake = null;
        continue;
      }
      try {
        await this.#send(batch);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ err: error }, "reports wait for the coordinator");
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #next(): { member: Member; reports: MemberReport[] }[] {
    const batch: { member: Member; reports: MemberReport[] }[] = [];
    let room = MAX_REPORTS;
    for (const member of this.#members()) {
      const reports = member.state.pending.slice(0, room);
      if (reports.length > 0) batch.push({ member, reports });
      room -= reports.length;
      if (room === 0) break;
    }
    return batch;
  }

  async #send(batch: { member: Member; reports: MemberReport[] }[]): Promise<void> {
    const { results } = await this.#coordinator.report(batch.flatMap(({ reports }) => reports));
    let from = 0;
    for (const { member, reports } of batch) {
      const answers = results.slice(from, from + reports.length);
      from += reports.length;
      member.settle(answers.length);
      if (answers.includes("stale")) this.#onStale(member);
    }
  }
}
