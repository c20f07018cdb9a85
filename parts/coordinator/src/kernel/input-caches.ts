import { createHash } from "node:crypto";
import type { InputCacheRule } from "@resontech/contracts/agent-protocol";
import type { WriteHandle } from "../db/open-database.ts";

type CachingPool = { pool: string; project: string; bytes: number };

/** Which nodes keep inputs between members, and for whom: those of a pool that is one project's, and has a rule for it. */
export class InputCaches {
  readonly #find;

  constructor(db: WriteHandle) {
    this.#find = db.prepare<[string], CachingPool>(
      `SELECT pools.id AS pool, project_id AS project, cache_bytes AS bytes FROM pool_nodes JOIN pools ON pools.id = pool_id
       WHERE node_id = ? AND project_id IS NOT NULL AND cache_bytes IS NOT NULL`,
    );
  }

  /** Null where nothing is kept. `project`: whose members alone have it. */
  ofNode(node: string): { project: string; rule: InputCacheRule } | null {
    const found = this.#find.get(node);
    if (found === undefined) return null;
    const { pool, project, bytes } = found;
    return { project, rule: { owner: hashOf([pool, project]), maxBytes: bytes } };
  }
}

/** Names one version of one object for a node that keeps it; nothing where the store has no versions of it. */
export function objectVersionName({
  bucket,
  key,
  version_id: version,
}: {
  bucket: string;
  key: string;
  version_id: string;
}): string | null {
  // S3 calls so whatever was stored while a bucket had no versions: the next one has the same name.
  return version === "" || version === "null" ? null : hashOf([bucket, key, version]);
}

function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
