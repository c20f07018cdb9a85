import type { PoolBody, PoolChangeBody, PoolReply } from "@resontech/contracts/http-pools";

/** A pool as it is being written. @property minutes empty: as long as it likes */
export type PoolDraft = {
  name: string;
  kind: PoolReply["kind"];
  project: string;
  lends: boolean;
  minutes: string;
  nodes: string[];
};

/** @param pool null: one that is not there yet */
export function poolDraftOf(pool: PoolReply | null): PoolDraft {
  return {
    ...{ name: pool?.name ?? "", kind: pool?.kind ?? "managed", project: pool?.project?.id ?? "" },
    ...{ lends: pool?.lends ?? false, nodes: pool?.nodes ?? [] },
    minutes: String(pool?.mostRunMinutes ?? ""),
  };
}

export function newPool({ name, kind, project, lends, minutes, nodes }: PoolDraft): PoolBody {
  return {
    ...{ name, kind, ...(kind === "shared" ? {} : { project }) },
    ...(kind === "managed" && lends ? { lends } : {}),
    ...(minutes === "" ? {} : { mostRunMinutes: Number(minutes) }),
    ...(nodes.length === 0 ? {} : { nodes }),
  };
}

/** What is to be changed of a pool that is there; an empty object: nothing. */
export function changedPool(pool: PoolReply, draft: PoolDraft): PoolChangeBody {
  const addNodes = draft.nodes.filter((node) => !pool.nodes.includes(node));
  const removeNodes = pool.nodes.filter((node) => !draft.nodes.includes(node));
  const minutes = draft.minutes === "" ? null : Number(draft.minutes);
  return {
    ...(draft.lends === pool.lends ? {} : { lends: draft.lends }),
    ...(minutes === pool.mostRunMinutes ? {} : { mostRunMinutes: minutes }),
    ...(addNodes.length === 0 ? {} : { addNodes }),
    ...(removeNodes.length === 0 ? {} : { removeNodes }),
  };
}
