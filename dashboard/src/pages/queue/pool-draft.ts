import type { PoolBody, PoolChangeBody, PoolReply } from "@resontech/contracts/http-pools";

const GB = 1e9;

type PoolClasses = NonNullable<PoolBody["classes"]>;

/** A pool as it is being written. @property minutes empty: as long as it likes @property classes none: all @property most workers of a project; empty: any number @property models with commas; empty: any @property cache GB that each node keeps; empty: nothing */
export type PoolDraft = {
  name: string;
  kind: PoolReply["kind"];
  project: string;
  lends: boolean;
  minutes: string;
  classes: string[];
  most: string;
  models: string;
  cache: string;
  nodes: string[];
};

/** @param pool null: one that is not there yet */
export function poolDraftOf(pool: PoolReply | null): PoolDraft {
  return {
    ...{ name: pool?.name ?? "", kind: pool?.kind ?? "managed", project: pool?.project?.id ?? "" },
    ...{ lends: pool?.lends ?? false, nodes: pool?.nodes ?? [] },
    minutes: String(pool?.mostRunMinutes ?? ""),
    ...{ classes: pool?.classes ?? [], most: String(pool?.projectWorkers ?? "") },
    models: (pool?.workerModels ?? []).join(", "),
    cache: pool?.cacheBytes == null ? "" : String(pool.cacheBytes / GB),
  };
}

export function newPool(draft: PoolDraft): PoolBody {
  const { name, kind, project, lends, minutes, classes, most, models, cache, nodes } = draft;
  const expected = modelsOf(models);
  return {
    ...{ name, kind, ...(kind === "shared" ? {} : { project }) },
    ...(kind === "managed" && lends ? { lends } : {}),
    ...(minutes === "" ? {} : { mostRunMinutes: Number(minutes) }),
    ...(classes.length === 0 ? {} : { classes: classes as PoolClasses }),
    ...(most === "" ? {} : { projectWorkers: Number(most) }),
    ...(expected.length === 0 ? {} : { workerModels: expected }),
    ...(cache === "" || kind === "shared" ? {} : { cacheBytes: bytesOf(cache) }),
    ...(nodes.length === 0 ? {} : { nodes }),
  };
}

/** What is to be changed of a pool that is there; an empty object: nothing. */
export function changedPool(pool: PoolReply, draft: PoolDraft): PoolChangeBody {
  const addNodes = draft.nodes.filter((node) => !pool.nodes.includes(node));
  const removeNodes = pool.nodes.filter((node) => !draft.nodes.includes(node));
  const minutes = draft.minutes === "" ? null : Number(draft.minutes);
  const most = draft.most === "" ? null : Number(draft.most);
  const models = modelsOf(draft.models);
  const cacheBytes = draft.cache === "" ? null : bytesOf(draft.cache);
  return {
    ...(draft.lends === pool.lends ? {} : { lends: draft.lends }),
    ...(minutes === pool.mostRunMinutes ? {} : { mostRunMinutes: minutes }),
    ...(isSame(draft.classes, pool.classes ?? [])
      ? {}
      : { classes: draft.classes.length === 0 ? null : (draft.classes as PoolClasses) }),
    ...(most === pool.projectWorkers ? {} : { projectWorkers: most }),
    ...(isSame(models, pool.workerModels ?? [])
      ? {}
      : { workerModels: models.length === 0 ? null : models }),
    ...(cacheBytes === pool.cacheBytes ? {} : { cacheBytes }),
    ...(addNodes.length === 0 ? {} : { addNodes }),
    ...(removeNodes.length === 0 ? {} : { removeNodes }),
  };
}

function bytesOf(gigabytes: string): number {
  return Math.round(Number(gigabytes) * GB);
}

function modelsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((model) => model !== ""))];
}

/** In whatever order. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}
