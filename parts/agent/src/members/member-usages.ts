import type { BeatRequest, MemberUses } from "@resontech/contracts/agent-protocol";
import { memberColumns } from "../decisions/member-columns.ts";
import { isMemoryClimb } from "../decisions/memory-climb.ts";
import type { RunUsage } from "../decisions/run-usage.ts";
import type { Run } from "../substrate/enclosure.ts";

type Followed = {
  run: Pick<Run, "usage" | "memoryBytes">;
  last: RunUsage;
  /** All memory in use when it was looked at last. */
  memoryBytes: number;
  isTold: boolean;
  isOver: boolean;
};

/** What the members that run here use. It is looked at with each beat, and between beats when a member's memory grows fast. */
export class MemberUsages {
  readonly #followed = new Map<string, Followed>();
  readonly #onNews: () => void;

  /** @param onNews what was seen is to be told before the next beat is due */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  /** Until it is disposed of; what was seen last and not told yet is told then. */
  follow(member: string, run: Followed["run"]): Disposable {
    const one: Followed = { run, last: {}, memoryBytes: 0, isTold: false, isOver: false };
    this.#look(one);
    this.#followed.set(member, one);
    return {
      [Symbol.dispose]: () => {
        if (this.#followed.get(member) !== one) return;
        one.isOver = true;
        if (one.isTold || isEmpty(one.last)) this.#followed.delete(member);
        else this.#onNews();
      },
    };
  }

  /** Looks at memory alone, so that it may be done each second: who runs out of it ends between two beats. */
  watchMemory(): void {
    for (const one of this.#followed.values()) {
      if (one.isOver) continue;
      const now = one.run.memoryBytes();
      if (now === null || !isMemoryClimb(one.memoryBytes, now, one.last.memoryLimitBytes)) continue;
      this.#look(one);
      this.#onNews();
    }
  }

  /** What a beat says; undefined where nobody runs. */
  tell(held: BeatRequest["held"]): MemberUses | undefined {
    const usages = new Map<number, RunUsage>();
    for (const [place, { member }] of held.entries()) {
      const one = this.#followed.get(member);
      if (one === undefined) continue;
      if (!one.isOver) this.#look(one);
      if (!isEmpty(one.last)) usages.set(place, one.last);
      one.isTold = true;
    }
    for (const [member, { isOver }] of this.#followed) if (isOver) this.#followed.delete(member);
    return usages.size === 0 ? undefined : memberColumns(usages);
  }

  /** What has just ended says nothing any more: what it said last stays. */
  #look(one: Followed): void {
    const usage = one.run.usage();
    if (isEmpty(usage)) return;
    one.last = usage;
    one.memoryBytes = one.run.memoryBytes() ?? one.memoryBytes;
    one.isTold = false;
  }
}

function isEmpty(usage: RunUsage): boolean {
  return Object.keys(usage).length === 0;
}
