/** Pure: what keys have used of deployments, day by day, as the lines of a journal say it in their order. Lines that come twice count once. */
import type { UsageRow } from "@resontech/contracts/gateway-numbers";
import type { BatchHead, CallBegun, CallEnded, CallLine } from "../records/call-line.ts";

export class UsageTotals {
  readonly #rows = new Map<string, UsageRow>();
  readonly #open = new Map<string, { row: UsageRow; hasTokens: boolean }>();
  readonly #changed = new Set<UsageRow>();

  take(line: CallLine | BatchHead): void {
    if (line.kind === "call") this.#begin(line);
    if (line.kind === "end") this.#end(line);
  }

  /** All that is known; each row is the whole of its day. */
  all(): UsageRow[] {
    this.#changed.clear();
    return [...this.#rows.values()];
  }

  /** What has changed since this or {@link all} was asked last. */
  changed(): UsageRow[] {
    const rows = [...this.#changed];
    this.#changed.clear();
    return rows;
  }

  /** Days before this one are told no more, but for calls that are still open. */
  forgetBefore(day: string): void {
    for (const [id, row] of this.#rows) if (row.day < day) this.#rows.delete(id);
  }

  /** A call counts once its end is known: until then nobody knows what it is. */
  #begin({ id, at, call, deployment, project, keySha256 }: CallBegun): void {
    const row = this.#row(at.slice(0, "2026-01-01".length), { deployment, project, keySha256 });
    this.#open.set(id, { row, hasTokens: call !== "predict" });
  }

  #end({ id, outcome, status, usage }: CallEnded): void {
    const call = this.#open.get(id);
    // Of a call that began before what was read, or whose end was written once more.
    if (call === undefined) return;
    this.#open.delete(id);
    const { row, hasTokens } = call;
    row.calls += 1;
    if (outcome !== "answered" || status === null || status >= 400) row.failed += 1;
    // What an engine answered without a word of tokens cost none: it refused the call.
    const isTold = usage === null ? outcome === "answered" : usage.isExact;
    if (hasTokens && !isTold) row.inexact += 1;
    row.promptTokens += usage?.promptTokens ?? 0;
    row.completionTokens += usage?.completionTokens ?? 0;
    this.#changed.add(row);
  }

  #row(day: string, of: Pick<UsageRow, "deployment" | "project" | "keySha256">): UsageRow {
    const id = `${day} ${of.deployment} ${of.keySha256}`;
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const row: UsageRow = {
      ...{ day, ...of, calls: 0, failed: 0, inexact: 0, promptTokens: 0, completionTokens: 0 },
    };
    this.#rows.set(id, row);
    return row;
  }
}
