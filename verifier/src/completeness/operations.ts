/** Operations: one request, then one outcome of the same type. Those open at the end are OPEN while they are younger than their type allows. */
import { ruleOf } from "../leaf/catalogue.ts";
import { nameIn } from "../leaf/detail.ts";
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";

/** More than any honest log has open at once; what is beyond is not judged. */
const MAX_OPEN = 50_000;
const OVER_LIMIT = `over ${MAX_OPEN} operations are open at once`;
/** Names of types of which one text is held for all; a release may have those that this one does not know. */
const MAX_SHARED = 1_000;

export class Operations {
  /** Id → its place in what follows. */
  readonly #open = new Map<string, number>();
  readonly #types: string[] = [];
  readonly #indices = new Float64Array(MAX_OPEN);
  readonly #sinceMs = new Float64Array(MAX_OPEN);
  /** Places below the number of types that nobody has. */
  readonly #free: number[] = [];
  readonly #shared = new Map<string, string>();
  /** Operations that were closed. */
  closed = 0;

  fault({ op, type, phase, t_log, detail = {} }: Leaf, index: number): string | null {
    if (type === "audit.op.carried") {
      const sinceMs = Date.parse(nameIn(detail, "logged_at") ?? "");
      return this.#set(op, nameIn(detail, "type") ?? "", index, sinceMs);
    }
    if (phase === "fact" || phase === "observed") return null;
    const place = this.#open.get(op);
    if (phase === "requested") {
      if (place !== undefined) return `the operation ${op} is requested twice`;
      return this.#set(op, type, index, instantMs(t_log));
    }
    if (place === undefined) return `an outcome without a request: ${op}`;
    this.#open.delete(op);
    this.#free.push(place);
    this.closed += 1;
    const requested = this.#types[place]!;
    return requested === type ? null : `the outcome is ${type}, the request was ${requested}`;
  }

  /** @param endMs auditd's time of the last entry */
  atEnd(endMs: number): {
    open: number;
    overdue: number;
    firstOverdue: { type: string; index: number } | null;
  } {
    let overdue = 0;
    let firstOverdue: { type: string; index: number } | null = null;
    for (const place of this.#open.values()) {
      const [type, index] = [this.#types[place]!, this.#indices[place]!];
      const maxOpenMs = ruleOf(type)?.maxOpenMs ?? Number.POSITIVE_INFINITY;
      if (endMs - this.#sinceMs[place]! <= maxOpenMs) continue;
      overdue += 1;
      if (firstOverdue === null || index < firstOverdue.index) firstOverdue = { type, index };
    }
    return { open: this.#open.size - overdue, overdue, firstOverdue };
  }

  #set(op: string, type: string, index: number, sinceMs: number): string | null {
    if (this.#open.size === MAX_OPEN) return OVER_LIMIT;
    const place = this.#open.get(op) ?? this.#free.pop() ?? this.#types.length;
    this.#open.set(op, place);
    this.#types[place] = this.#sharedText(type);
    this.#indices[place] = index;
    this.#sinceMs[place] = sinceMs;
    return null;
  }

  #sharedText(type: string): string {
    const known = this.#shared.get(type);
    if (known === undefined && this.#shared.size < MAX_SHARED) this.#shared.set(type, type);
    return known ?? type;
  }
}
