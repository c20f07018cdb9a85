/** An auditd at a date of its own, on a log that is made on another: years pass within a proof. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SetClock } from "../instances/set-clock.ts";
import { AuditdProcess } from "./auditd-process.ts";

const MORNING_MS = 10 * 3_600_000;
const AFTER_MIDNIGHT_MS = 5_000;

export class DatedAuditd extends AuditdProcess {
  readonly #clock: SetClock;

  /** @param inception the day on which its log is made, `YYYY-MM-DD` */
  constructor(root: string, disk: string, inception: string) {
    mkdirSync(join(root, "control"), { recursive: true, mode: 0o700 });
    const clock = new SetClock(join(root, "clock"));
    super(root, disk, { inception, controlSocket: join(root, "control/sock") }, clock.environment);
    this.#clock = clock;
    this.setDay(inception);
  }

  /** For the next start. */
  setDay(day: string): void {
    this.#clock.set(Date.parse(day) + MORNING_MS - Date.now());
  }

  /** Seconds after this year has begun, for the next start. */
  setNewYear(year: number): void {
    this.#clock.set(Date.UTC(year, 0, 1) + AFTER_MIDNIGHT_MS - Date.now());
  }

  /** Says that the clock is right: the log goes on in the shard of the year, which is begun when this resolves. */
  async vouch(): Promise<void> {
    await this.control({ verb: "clock-is-right" });
  }
}
