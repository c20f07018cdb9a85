/** WITNESSED: up to which entry other hosts countersigned, by the policy's quorum, and the longest stretch of running time without. */
import { latin1 } from "../input/bytes.ts";
import type { Checkpoint } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import type { Policy } from "./policy.ts";
import { evaluateKey } from "./signatures.ts";
import type { Timeline } from "../completeness/timeline.ts";
import type { VerifierTree } from "../tree/tree.ts";
import { fail, notChecked, pass, type Verdict } from "../verdicts.ts";

/** Without a cosignature for longer auditd raises `audit.witness.lag`; kept checkpoints are an hour apart. */
const MAX_LAG_MS = 15 * 60_000;
const KEPT_EVERY_MS = 60 * 60_000;
/** That a report lists. */
const MAX_LAPSES = 1_000;

export const UNKNOWN_KIND =
  "the quorum needs cosignatures of a kind that this runtime does not know";

export type Witnessing = {
  size: number /** When the quorum was complete, seconds. */;
  timeS: number;
  names: string[];
};
/** Entries `from` to `to - 1`, written between these times of auditd, for longer than is allowed without a quorum of witnesses. */
export type Lapse = {
  from: number;
  to: number;
  fromTime: string;
  toTime: string;
  activeMs: number;
};
/** Of tens of thousands: names as one text, the root by its bytes as characters. */
type Seen = { size: number; timeS: number; names: string; root: string } & (
  | { activeMs: number; at: string }
  | { activeMs: null }
);

/** What the policy's witnesses say of one checkpoint; null when they are no quorum, unknown when this runtime can't tell. */
export async function witnessing(
  checkpoint: Checkpoint,
  { witnesses, isQuorum }: Policy,
  platform: Platform,
): Promise<Witnessing | "invalid" | "unknown" | null> {
  const cosigned: { name: string; timeS: number }[] = [];
  const unjudged: string[] = [];
  for (const { name, key } of witnesses) {
    const { state, timeS } = await evaluateKey(checkpoint, key, platform);
    if (state === "invalid") return "invalid";
    if (state === "valid") cosigned.push({ name, timeS });
    if (state === "unknown") unjudged.push(name);
  }
  const names = new Set<string>();
  for (const { name, timeS } of cosigned.toSorted((a, b) => a.timeS - b.timeS)) {
    names.add(name);
    if (isQuorum(names)) return { size: checkpoint.size, timeS, names: [...names] };
  }
  return unjudged.length > 0 && isQuorum(new Set([...names, ...unjudged])) ? "unknown" : null;
}

export class Witnessed {
  /** By size. */
  readonly #seen = new Map<number, Seen>();
  /** Mostly those of the checkpoint before. */
  #names = "";
  #fault: Verdict | null = null;
  #hasUnknown = false;
  #beganAt: string | null = null;

  /** Judges a checkpoint of the export, before the first entry is read. */
  async add(checkpoint: Checkpoint, policy: Policy, platform: Platform): Promise<void> {
    const found = await witnessing(checkpoint, policy, platform);
    if (found === "invalid")
      this.#fault ??= fail(
        checkpoint.size,
        `a cosignature of the checkpoint of ${checkpoint.size} entries does not verify`,
      );
    else if (found === "unknown") this.#hasUnknown = true;
    else if (found !== null) {
      const { size, timeS } = found;
      const names = found.names.join(", ");
      if (names !== this.#names) this.#names = names;
      this.#seen.set(size, {
        size,
        timeS,
        names: this.#names,
        root: latin1(checkpoint.root),
        activeMs: null,
      });
    }
  }

  /** The tree has grown to this size. */
  note(tree: Pick<VerifierTree, "size" | "root">, timeline: Timeline): void {
    const { size } = tree;
    this.#beganAt ??= timeline.at;
    const seen = this.#seen.get(size);
    if (seen === undefined) return;
    this.#seen.set(size, { ...seen, activeMs: timeline.activeMs, at: timeline.at ?? "" });
    if (latin1(tree.root()) !== seen.root)
      this.#fault ??= fail(0, `the witnesses countersigned another tree of ${size} entries`);
  }

  verdict(policy: Policy, size: number, timeline: Timeline): Verdict {
    if (policy.quorum === "none") return notChecked("the policy asks for no witness (quorum none)");
    if (this.#fault !== null) return this.#fault;
    const newest = this.#reached().at(-1);
    const [lapse] = this.lapses(size, timeline);
    const isFailed = newest === undefined || lapse !== undefined;
    if (isFailed && this.#hasUnknown) return notChecked(UNKNOWN_KIND);
    if (newest === undefined)
      return fail(0, "no checkpoint of the export carries the policy's quorum of witnesses");
    if (lapse !== undefined)
      return fail(
        lapse.from,
        `no quorum of witnesses for ${minutes(lapse.activeMs)} of running time, entries ${lapse.from} to ${lapse.to - 1}`,
      );
    const longestMs = this.#stretches().reduce(
      (longest, { activeMs }) => Math.max(longest, activeMs),
      0,
    );
    const rest =
      size === newest.size
        ? ""
        : `; the last ${size - newest.size} entries are not countersigned yet`;
    return pass(
      `${newest.names} countersigned up to entry ${newest.size - 1}, at ${new Date(newest.timeS * 1_000).toISOString()}; longest stretch ${minutes(longestMs)}${rest}`,
    );
  }

  /** Stretches that were too long, the first thousand. */
  lapses(size: number, timeline: Timeline): Lapse[] {
    const last = this.#reached().at(-1) ?? { size: 0, activeMs: 0, at: this.#beganAt ?? "" };
    const rest = between(last, { size, activeMs: timeline.activeMs, at: timeline.at ?? "" });
    return [
      ...this.#stretches().filter(({ activeMs }) => activeMs > KEPT_EVERY_MS + MAX_LAG_MS),
      ...(rest.activeMs > MAX_LAG_MS ? [rest] : []),
    ].slice(0, MAX_LAPSES);
  }

  #reached() {
    return [...this.#seen.values()]
      .filter((one) => one.activeMs !== null)
      .sort((a, b) => a.size - b.size);
  }

  /** From one countersigned checkpoint to the next. */
  #stretches(): Lapse[] {
    const reached = this.#reached();
    return reached.map((one, at) =>
      between(reached[at - 1] ?? { size: 0, activeMs: 0, at: this.#beganAt ?? "" }, one),
    );
  }
}

type Place = { size: number; activeMs: number; at: string };

function between(from: Place, to: Place): Lapse {
  return {
    from: from.size,
    to: to.size,
    fromTime: from.at,
    toTime: to.at,
    activeMs: to.activeMs - from.activeMs,
  };
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`;
}
