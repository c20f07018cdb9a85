/** WITNESSED: up to which entry other hosts countersigned, by the policy's quorum, and the longest stretch of running time without. */
import { equal } from "./bytes.ts";
import type { Checkpoint } from "./note.ts";
import type { Platform } from "./platform.ts";
import type { Policy } from "./policy.ts";
import { judgeKey } from "./signatures.ts";
import type { Timeline } from "./timeline.ts";
import { fail, notChecked, pass, type Verdict } from "./verdicts.ts";

/** Without a cosignature for longer auditd raises `audit.witness.lag`; kept checkpoints are an hour apart. */
const MAX_LAG_MS = 15 * 60_000;
const KEPT_EVERY_MS = 60 * 60_000;

export type Witnessing = { size: number /** When the quorum was complete, seconds. */; timeS: number; names: string[] };
type Seen = Witnessing & { root: Uint8Array; activeMs: number | null };

/** What the policy's witnesses say of one checkpoint; null when they are no quorum. */
export async function witnessing(
  checkpoint: Checkpoint,
  { witnesses, isQuorum }: Policy,
  platform: Platform,
): Promise<Witnessing | "invalid" | null> {
  const cosigned: { name: string; timeS: number }[] = [];
  for (const { name, key } of witnesses) {
    const { state, timeS } = await judgeKey(checkpoint, key, platform);
    if (state === "invalid") return "invalid";
    if (state === "valid") cosigned.push({ name, timeS });
  }
  const names = new Set<string>();
  for (const { name, timeS } of cosigned.toSorted((a, b) => a.timeS - b.timeS)) {
    names.add(name);
    if (isQuorum(names)) return { size: checkpoint.size, timeS, names: [...names] };
  }
  return null;
}

export class Witnessed {
  /** By size. */
  readonly #seen = new Map<number, Seen>();
  #fault: Verdict | null = null;

  /** Judges a checkpoint of the export, before the first entry is read. */
  async add(checkpoint: Checkpoint, policy: Policy, platform: Platform): Promise<void> {
    const found = await witnessing(checkpoint, policy, platform);
    if (found === "invalid")
      this.#fault ??= fail(checkpoint.size, `a cosignature of the checkpoint of ${checkpoint.size} entries does not verify`);
    else if (found !== null) this.#seen.set(checkpoint.size, { ...found, root: checkpoint.root, activeMs: null });
  }

  /** The tree has grown to this size. */
  note(size: number, timeline: Timeline, rootOf: () => Uint8Array): void {
    const seen = this.#seen.get(size);
    if (seen === undefined) return;
    seen.activeMs = timeline.activeMs;
    if (!equal(rootOf(), seen.root)) this.#fault ??= fail(0, `the witnesses countersigned another tree of ${size} entries`);
  }

  verdict(policy: Policy, size: number, activeMs: number): Verdict {
    if (policy.quorum === "none") return notChecked("the policy asks for no witness (quorum none)");
    if (this.#fault !== null) return this.#fault;
    const seen = [...this.#seen.values()].filter((one) => one.activeMs !== null).sort((a, b) => a.size - b.size);
    const newest = seen.at(-1);
    if (newest === undefined) return fail(0, "no checkpoint of the export carries the policy's quorum of witnesses");
    let before = { size: 0, activeMs: 0 };
    let longestMs = 0;
    for (const one of seen) {
      const gapMs = one.activeMs! - before.activeMs;
      longestMs = Math.max(longestMs, gapMs);
      if (gapMs > KEPT_EVERY_MS + MAX_LAG_MS) return fail(before.size, lagText(before.size, one.size, gapMs));
      before = { size: one.size, activeMs: one.activeMs! };
    }
    const restMs = activeMs - before.activeMs;
    if (restMs > MAX_LAG_MS) return fail(before.size, lagText(before.size, size, restMs));
    const rest = size === newest.size ? "" : `; the last ${size - newest.size} entries are not countersigned yet`;
    return pass(
      `${newest.names.join(", ")} countersigned up to entry ${newest.size - 1}, at ${new Date(newest.timeS * 1_000).toISOString()}; longest stretch ${minutes(longestMs)}${rest}`,
    );
  }
}

function lagText(from: number, to: number, ms: number): string {
  return `no quorum of witnesses for ${minutes(ms)} of running time, entries ${from} to ${to - 1}`;
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`;
}
