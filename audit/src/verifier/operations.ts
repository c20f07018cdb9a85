/** Operations: one request, then one outcome of the same type. Those open at the end are OPEN while they are younger than their type allows. */
import { ruleOf } from "./catalogue.ts";
import { nameIn } from "./detail.ts";
import { instantMs } from "./instant.ts";
import type { Leaf } from "./leaf.ts";

/** More than any honest log has open at once; what is beyond is not judged. */
const MAX_OPEN = 50_000;
const OVER_LIMIT = `over ${MAX_OPEN} operations are open at once`;

type Open = { type: string; index: number; sinceMs: number };

export class Operations {
  readonly #open = new Map<string, Open>();
  /** Operations that were closed. */
  closed = 0;

  fault({ op, type, phase, t_log, detail = {} }: Leaf, index: number): string | null {
    if (type === "audit.op.carried") {
      if (this.#open.size === MAX_OPEN) return OVER_LIMIT;
      this.#open.set(op, { type: nameIn(detail, "type") ?? "", index, sinceMs: Date.parse(nameIn(detail, "logged_at") ?? "") });
      return null;
    }
    if (phase === "fact" || phase === "observed") return null;
    const opened = this.#open.get(op);
    if (phase === "requested") {
      if (opened !== undefined) return `the operation ${op} is requested twice`;
      if (this.#open.size === MAX_OPEN) return OVER_LIMIT;
      this.#open.set(op, { type, index, sinceMs: instantMs(t_log) });
      return null;
    }
    if (opened === undefined) return `an outcome without a request: ${op}`;
    this.#open.delete(op);
    this.closed += 1;
    return opened.type === type ? null : `the outcome is ${type}, the request was ${opened.type}`;
  }

  /** @param endMs auditd's time of the last entry */
  atEnd(endMs: number): { open: number; overdue: number; firstOverdue: (Open & { op: string }) | null } {
    let overdue = 0;
    let firstOverdue: (Open & { op: string }) | null = null;
    for (const [op, opened] of this.#open) {
      const maxOpenMs = ruleOf(opened.type)?.maxOpenMs ?? Number.POSITIVE_INFINITY;
      if (endMs - opened.sinceMs <= maxOpenMs) continue;
      overdue += 1;
      if (firstOverdue === null || opened.index < firstOverdue.index) firstOverdue = { ...opened, op };
    }
    return { open: this.#open.size - overdue, overdue, firstOverdue };
  }
}
