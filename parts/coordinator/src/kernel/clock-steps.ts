/**
 * The wall clock may be set, forward or back, at any time, and rows hold wall times. A step moves what still counts (deadlines, waits, open
 * intervals) by as much, in one transaction; what has happened keeps the time that it was written with.
 */
import { readFileSync } from "node:fs";
import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { SteadyClock } from "./clock.ts";
import { evaluateStep } from "./decisions/clock-step.ts";

const LOOK_MS = 1_000;

/** Time since boot in milliseconds, suspend included, with the boot that it counts from. */
export type BootTime = { bootId: string; sinceBootMs: number };

export function readBootTime(): BootTime {
  const [uptime = "0"] = readFileSync("/proc/uptime", "utf8").split(" ");
  return {
    bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    sinceBootMs: Math.round(Number(uptime) * 1000),
  };
}

export type ClockStepParts = {
  db: WriteHandle;
  commit: GroupCommit;
  meta: Meta;
  clock: SteadyClock;
  bootTime: () => BootTime;
  /** The rows have moved by so many milliseconds. */
  onStep: (stepMs: number) => void;
};

/** What the wall clock read at boot, as this process sees it; compared by the next life of it. */
type Anchor = { bootId: string; wallAtBootMs: number };

export class ClockSteps {
  readonly #parts: ClockStepParts;

  constructor(parts: ClockStepParts) {
    this.#parts = parts;
  }

  /** At start, before anything looks at a deadline: a step that nobody was there to see. */
  async begin(): Promise<void> {
    const { meta, commit } = this.#parts;
    const former = JSON.parse(meta.text("clock-anchor") ?? "null") as Anchor | null;
    const anchor = this.#anchor();
    const stepMs =
      former?.bootId === anchor.bootId
        ? evaluateStep(anchor.wallAtBootMs - former.wallAtBootMs)
        : null;
    await commit.run(() => this.#move(stepMs));
    if (stepMs !== null) this.#parts.onStep(stepMs);
  }

  /** Looks every second until aborted. */
  run(signal: AbortSignal, onError: (error: unknown) => void): void {
    const looks = new SharedRun();
    const timer = setInterval(() => void looks.run(() => this.look().catch(onError)), LOOK_MS);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }

  async look(): Promise<void> {
    const { clock, commit, onStep } = this.#parts;
    const stepMs = evaluateStep(clock.stepMs());
    if (stepMs === null) {
      // A clock that is slewed is followed as it goes.
      clock.follow();
      return;
    }
    await commit.run(() => this.#move(stepMs));
    clock.follow();
    onStep(stepMs);
  }

  #move(stepMs: number | null): void {
    const { db, meta } = this.#parts;
    if (stepMs !== null) moveTimes(db, meta, stepMs);
    meta.set("clock-anchor", JSON.stringify(this.#anchor()));
  }

  #anchor(): Anchor {
    const { bootTime, clock } = this.#parts;
    const { bootId, sinceBootMs } = bootTime();
    return { bootId, wallAtBootMs: clock.wall() - sinceBootMs };
  }
}

/** Moves the times of all that is under way by a step of the clock, inside a transaction. */
export function moveTimes(db: WriteHandle, meta: Meta, stepMs: number): void {
  const move = (table: string, columns: readonly string[], where: string): void => {
    // A time that is not set stays so: NULL + n is NULL.
    const moves = columns.map((column) => `${column} = ${column} + @stepMs`).join(", ");
    db.prepare(`UPDATE ${table} SET ${moves} WHERE ${where}`).run({ stepMs });
  };
  move("jobs", ["state_since", "deadline_at", "expires_at"], "ended_at IS NULL");
  move(
    "members",
    ["state_since", "deadline_at", "progress_at"],
    "state NOT IN ('RELEASED', 'QUARANTINED')",
  );
  move("leases", ["acquired_at", "used_from", "used_until"], "released_at IS NULL");
  // Of those that nothing hangs on any more the time is a record.
  move(
    "preemptions",
    ["decided_at", "kept_until"],
    "EXISTS (SELECT 1 FROM jobs WHERE jobs.id IN (preemptions.job_id, preemptions.victim_job) AND ended_at IS NULL)",
  );
  move("node_outages", ["since"], "until IS NULL");
  move("uploads", ["opened_at"], "state IN ('OPEN', 'COMPLETING')");
  move("join_tokens", ["created_at", "expires_at"], "used_at IS NULL");
  move("audit_outbox", ["created_at"], "true");
  move("outbox", ["created_at"], "true");
  move("outbox", ["not_before"], "not_before > 0");
  const nodes = db
    .prepare<[], { id: string; flaps: string }>("SELECT id, flaps FROM nodes WHERE flaps <> '[]'")
    .all();
  const setFlaps = db.prepare("UPDATE nodes SET flaps = ? WHERE id = ?");
  for (const { id, flaps } of nodes)
    setFlaps.run(JSON.stringify((JSON.parse(flaps) as number[]).map((at) => at + stepMs)), id);
  for (const name of ["maintenance-until", "leases-until"] as const) {
    const until = meta.number(name);
    if (until > 0) meta.set(name, until + stepMs);
  }
}
