/** What a platform key may be allowed to do. */
export const KEY_SCOPES = [
  "storage",
  "jobs:read",
  "jobs:write",
  "keys",
  "nodes:read",
  "audit:read",
  /** Calls of deployments, which the inference gateway lets through; no route of the coordinator needs it. */
  "infer",
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
