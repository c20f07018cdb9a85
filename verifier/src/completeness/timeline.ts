/**
 * When the log says nothing. auditd writes an entry a minute, so a silence of more than two is a stretch in which it did not run: STOPPED after
 * an orderly stop, DARK without one. A clock that was set forward makes no silence. And when a producer says nothing: SILENT is one that two
 * heartbeats or more name as away.
 */
import { integerIn, namesIn } from "../leaf/detail.ts";
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";

const HEARTBEAT_MS = 60_000;
export const MAX_SILENCE_MS = 2 * HEARTBEAT_MS;
/** auditd tells of a step of the clock within about a second of it. */
const STEP_TOLD_WITHIN_MS = 10_000;
const MAX_STRETCHES = 10_000;

export type Stretch = {
  kind: "DARK" | "STOPPED" | "SILENT";
  /** Who was silent, for SILENT. */
  prod?: string;
  /** First entry after it. */
  index: number;
  from: string;
  to: string;
};

/** Of announced times: more than two a day for a decade. */
export const MAX_DOWNTIME_BYTES = 262_144;
/** Times between which nothing was to be expected, by the auditor's own knowledge. */
export type Downtime = { fromMs: number; toMs: number };

export class Timeline {
  readonly stretches: Stretch[] = [];
  /** Stretches beyond those that are kept. */
  dropped = 0;
  /** Milliseconds in which the log was written: silences count as far as they are allowed. */
  activeMs = 0;
  #last: { tLog: string; ms: number; type: string } | null = null;
  readonly #away = new Map<string, { from: string; beats: number }>();
  #pending: { stretch: Stretch; gapMs: number; untilMs: number } | null = null;

  note({ type, t_log, prod, detail = {} }: Leaf, index: number): void {
    const ms = instantMs(t_log);
    const away = prod === "auditd" && type === "audit.heartbeat" ? namesIn(detail, "away") : null;
    if (away !== null) this.#beat(new Set(away), t_log, index);
    if (this.#last !== null) this.#judge(ms - this.#last.ms, t_log, index);
    if (type === "admin.clock.step") this.#explain(integerIn(detail, "step_ms") ?? 0);
    else if (this.#pending !== null && ms > this.#pending.untilMs) this.#settle();
    this.#last = { tLog: t_log, ms, type };
  }

  /** auditd's time of the newest entry. */
  get at(): string | null {
    return this.#last?.tLog ?? null;
  }

  /** @param count of entries */
  end(count: number): void {
    this.#settle();
    if (this.#last !== null) this.#beat(new Set(), this.#last.tLog, count);
  }

  /** A heartbeat says who is away; whoever was and is not any more was SILENT until then. */
  #beat(away: ReadonlySet<string>, tLog: string, index: number): void {
    for (const [prod, { from, beats }] of this.#away)
      if (!away.has(prod)) {
        this.#away.delete(prod);
        if (beats > 1) this.#keep({ kind: "SILENT", prod, index, from, to: tLog });
      }
    for (const prod of away) {
      const known = this.#away.get(prod);
      this.#away.set(prod, { from: known?.from ?? tLog, beats: (known?.beats ?? 0) + 1 });
    }
  }

  #judge(gapMs: number, to: string, index: number): void {
    this.activeMs += Math.min(gapMs, MAX_SILENCE_MS);
    if (gapMs <= MAX_SILENCE_MS) return;
    this.#settle();
    const { type, tLog } = this.#last!;
    const kind = type === "audit.stop" || type === "audit.shard.close" ? "STOPPED" : "DARK";
    this.#pending = {
      stretch: { kind, index, from: tLog, to },
      gapMs,
      untilMs: Date.parse(to) + STEP_TOLD_WITHIN_MS,
    };
  }

  #explain(stepMs: number): void {
    if (this.#pending !== null && this.#pending.gapMs - stepMs <= MAX_SILENCE_MS)
      this.#pending = null;
  }

  #settle(): void {
    if (this.#pending === null) return;
    this.#keep(this.#pending.stretch);
    this.#pending = null;
  }

  #keep(stretch: Stretch): void {
    if (this.stretches.length < MAX_STRETCHES) this.stretches.push(stretch);
    else this.dropped += 1;
  }
}

/** Lines `from to`, both RFC 3339 in UTC; null when one is none. */
export function parseDowntime(text: string): Downtime[] | null {
  const times: Downtime[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [from = "", to = "", ...rest] = line.trim().split(/\s+/);
    const isUtc = [from, to].every((time) =>
      /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?Z$/.test(time),
    );
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    if (!isUtc || rest.length > 0 || !(fromMs < toMs)) return null;
    times.push({ fromMs, toMs });
  }
  return times;
}

/** Whether one announced time, with the silence that is allowed at either end, holds the whole stretch. */
export function isAnnounced({ from, to }: Stretch, downtime: readonly Downtime[]): boolean {
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  return downtime.some(
    ({ fromMs, toMs }) => startMs >= fromMs - MAX_SILENCE_MS && endMs <= toMs + MAX_SILENCE_MS,
  );
}
