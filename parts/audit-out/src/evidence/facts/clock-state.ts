/** What entries say of the clock that they were written by. Pure. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";

export class ClockState {
  /** Entries whose clock was set by another one, was not, and that say nothing of it. */
  synced = 0;
  unsynced = 0;
  untold = 0;
  /** Microseconds that the clock was known to be off, either way; null where nobody said. */
  greatestOffsetUs: number | null = null;
  /** Who set the clock, as entries name it. */
  readonly sources = new Set<string>();

  note({ clk }: Pick<AuditEvent, "type"> & { clk?: unknown }): void {
    if (typeof clk !== "object" || clk === null) {
      this.untold += 1;
      return;
    }
    const { synced, src, offset_us }: { synced?: unknown; src?: unknown; offset_us?: unknown } =
      clk;
    if (synced === true) this.synced += 1;
    else this.unsynced += 1;
    if (typeof src === "string") this.sources.add(src);
    if (typeof offset_us === "number")
      this.greatestOffsetUs = Math.max(this.greatestOffsetUs ?? 0, Math.abs(offset_us));
  }
}
