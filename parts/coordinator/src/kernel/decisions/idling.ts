/** Whether an interactive job idles, and what follows. Pure; times in milliseconds. */

export const IDLING = {
  /** Where no share on the way up says another. */
  limitMs: 60 * 60_000,
  /** From the warning to the end. */
  graceMs: 10 * 60_000,
  /** A prompt that waits uses less of one processor than this, and a device that nobody computes on is busy for less. */
  cpuShare: 0.05,
  devicePercent: 2,
} as const;

/** What a member used since the last look. Null: nobody knows. @property device null also of a member without one */
export type SeenUse = { cpuShare: number | null; device: { percent: number | null } | null };

/** What is not known is never idle: a job idles only while all of its members are known to. */
export function judgeUse(members: readonly SeenUse[]): "active" | "idle" | "unknown" {
  const isActive = members.some(
    ({ cpuShare, device }) =>
      (cpuShare ?? 0) >= IDLING.cpuShare || (device?.percent ?? 0) >= IDLING.devicePercent,
  );
  if (isActive) return "active";
  const isKnown = members.every(
    ({ cpuShare, device }) => cpuShare !== null && (device === null || device.percent !== null),
  );
  return isKnown && members.length > 0 ? "idle" : "unknown";
}

/**
 * @property idleSince null while it does something, or nobody knows
 * @property warnedAt when it was warned in this idle time; null: it was not
 * @property isTold the warning stands
 */
export type Idling = {
  now: number;
  idleSince: number | null;
  limitMs: number;
  warnedAt: number | null;
  isTold: boolean;
};

/** `warn` at the limit, `end` once the grace is over as well, `forget` once it does something. */
export function judgeIdling({
  now,
  idleSince,
  limitMs,
  warnedAt,
  isTold,
}: Idling): "warn" | "end" | "forget" | null {
  if (idleSince === null || now - idleSince < limitMs) return isTold ? "forget" : null;
  if (warnedAt === null) return "warn";
  return now - warnedAt >= IDLING.graceMs ? "end" : null;
}

export function idleText(limitMs: number): string {
  return `the job is interactive and has used nothing for ${minutesOf(limitMs)}: it is ended in ${minutesOf(IDLING.graceMs)} unless it does something`;
}

export function idleEndText(limitMs: number): string {
  return `The job is interactive and used nothing for ${minutesOf(limitMs + IDLING.graceMs)}.`;
}

function minutesOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
