import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";

/** @throws ApiError not_found for the first that is no node of the appliance */
export function requireNodes(read: ReadHandle, nodes: readonly string[]): void {
  const find = read.prepare<[string], number>(
    "SELECT 1 FROM nodes WHERE id = ? AND state <> 'REVOKED'",
  );
  for (const node of nodes)
    if (find.get(node) === undefined) throw new ApiError("not_found", `there is no node ${node}`);
}
