/** All that an act erased, by shard, in order of index and field, a page at a time: of a month there may be millions, and others wait meanwhile. */
import { setImmediate as breath } from "node:timers/promises";
import type { CommitmentStore, ErasedCommitment } from "./commitment-store.ts";

const PAGE_ROWS = 5_000;

export async function* erasedBy(
  store: CommitmentStore,
  op: string,
): AsyncGenerator<ErasedCommitment[]> {
  for (let after = { origin: "", index: -1, field: "" }; ; ) {
    const page = store.pageOfErased(op, after, PAGE_ROWS);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = { origin: last.origin, index: last.index, field: last.field };
    await breath();
  }
}
