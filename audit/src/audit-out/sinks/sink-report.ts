/** What a sink, or the copy, says of itself in the log: `audit.sink`. */
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { Logger } from "pino";
import type { LogFollower, PassedOver } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import type { Reporter } from "../reporter.ts";

export type SinkReportOptions = { name: string; follower: LogFollower; reporter: Reporter; log: Logger };

export class SinkReport {
  readonly #options: SinkReportOptions;
  readonly #told = new Set<string>();

  constructor(options: SinkReportOptions) {
    this.#options = options;
  }

  say(
    state: "failing" | "recovered" | "passed_over",
    cursor: Position | null,
    passed?: EventDetail<"audit.sink">["passed"],
  ): void {
    const { name, reporter, follower } = this.#options;
    const size = follower.shards.at(-1)?.tree.size ?? 0;
    reporter.report<"audit.sink">({
      type: "audit.sink",
      object: { kind: "log", id: "audit-out" },
      detail: { sink: name, state, cursor: cursor?.index ?? 0, size, ...(passed === undefined ? {} : { passed }) },
    });
  }

  /** Once in a life, however often the receiver fails and is tried again. */
  tellPassed(passed: readonly PassedOver[], cursor: Position | null): void {
    for (const { shard, from, to } of passed) {
      const stretch = `${shard} ${from} ${to}`;
      if (this.#told.has(stretch)) continue;
      this.#told.add(stretch);
      this.#options.log.error({ sink: this.#options.name, shard, from, to }, "damaged entries are passed over");
      this.say("passed_over", cursor, { shard, from, ...(to === null ? {} : { to }) });
    }
  }
}
