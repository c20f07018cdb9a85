/** What a pack tells of its period beside the operations that bear on controls. Pure. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { isWithin, type LogPeriod } from "@resontech/audit/export/log-period";
import type { Operation } from "../operations/operation.ts";
import { ClockState } from "./clock-state.ts";
import { EXCEPTIONS, type ExceptionKind, exceptionsOf } from "./exceptions.ts";
import { ReleasesRun } from "./releases-run.ts";
import { RoleHolders } from "./role-holders.ts";

export class PeriodFacts {
  readonly clock = new ClockState();
  readonly releases = new ReleasesRun();
  readonly roles = new RoleHolders();
  /** Operations by the way in which they are an exception; one may be several. */
  readonly exceptions: Record<ExceptionKind, number> = Object.fromEntries(
    Object.keys(EXCEPTIONS).map((kind) => [kind, 0]),
  ) as Record<ExceptionKind, number>;
  /** Earlier shards that could not be read: of roles that they gave nothing is known. */
  readonly unread: string[] = [];
  readonly #period: LogPeriod;

  constructor(period: LogPeriod) {
    this.#period = period;
  }

  noteEntry(event: AuditEvent): void {
    if (isWithin(this.#period, event.t_log)) this.clock.note(event);
  }

  /** Of a shard before those of the pack. */
  noteEarlier(operation: Operation): void {
    this.roles.note(operation, "before");
  }

  /** @returns in which ways it is an exception of the period */
  note(operation: Operation): ExceptionKind[] {
    const { from } = this.#period;
    const isBefore = from !== null && operation.askedAt < from;
    if (!isBefore && !isWithin(this.#period, operation.askedAt)) return [];
    this.roles.note(operation, isBefore ? "before" : "within");
    this.releases.note(operation, isBefore ? "before" : "within");
    if (isBefore) return [];
    const kinds = exceptionsOf(operation);
    for (const kind of kinds) this.exceptions[kind] += 1;
    return kinds;
  }
}
