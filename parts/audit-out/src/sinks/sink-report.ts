/** What a sink, or the copy, says of itself in the log: `audit.sink`. */
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { Logger } from "pino";
import type { LogFollower, PassedOver } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import type { OwnFact, Reporter } from "../reporter.ts";

export type SinkReportOptions = {
  name: string;
  follower: LogFollower;
  reporter: Reporter;
  log: Logger;
};
type Detail = EventDetail<"audit.sink">;

export class SinkReport {
  readonly #options: SinkReportOptions;
  readonly #told = new Set<string>();
  /** By shard: from where on everything is told to be left out. */
  readonly #toldFrom = new Map<string, number>();

  constructor(options: SinkReportOptions) {
    this.#options = options;
  }

  say(state: "failing" | "recovered", cursor: Position | null): void {
    this.#options.reporter.report(this.#factOf(state, cursor));
  }

  /**
   * Once in a life, however often the receiver fails and is tried again. Resolves once auditd has it: whoever moves on before that may leave entries behind of
   * which nobody ever hears.
   * @throws the signal's reason; Error
   */
  async tellPassed(
    passed: readonly PassedOver[],
    cursor: Position | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, log, reporter } = this.#options;
    for (const { shard, from, to } of passed) {
      const stretch = `${shard} ${from} ${to}`;
      if (
        this.#told.has(stretch) ||
        from >= (this.#toldFrom.get(shard) ?? Number.POSITIVE_INFINITY)
      )
        continue;
      log.error(
        { sink: name, shard, from, to },
        "damaged entries are passed over, once auditd has that on record",
      );
      await reporter.say(
        this.#factOf("passed_over", cursor, { shard, from, ...(to === null ? {} : { to }) }),
        signal,
      );
      this.#told.add(stretch);
      if (to === null) this.#toldFrom.set(shard, from);
    }
  }

  #factOf(
    state: Detail["state"],
    cursor: Position | null,
    passed?: Detail["passed"],
  ): OwnFact<"audit.sink"> {
    const { name, follower } = this.#options;
    const size = follower.shards.at(-1)?.tree.size ?? 0;
    return {
      type: "audit.sink",
      object: { kind: "log", id: "audit-out" },
      detail: {
        sink: name,
        state,
        cursor: cursor?.index ?? 0,
        size,
        ...(passed === undefined ? {} : { passed }),
      },
    };
  }
}
