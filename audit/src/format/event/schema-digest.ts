/** The name of the schema set that this release writes by. A compiled program holds the value alone: `airgap/src/release/fixed-values.ts`. */
import { createHash } from "node:crypto";
import { EVENT_TYPES, leafSchema } from "@resontech/contracts/audit-catalogue";
import { canonicalJson } from "./canonical-json.ts";

/** Deep enough for any schema of the catalogue; schemas are ours, not input. */
const SCHEMA_DEPTH = 32;

/** SHA-256 of the canonical JSON of `{type: schema}` over the whole catalogue: what `schema_sha256` of an event names. */
export const SCHEMA_SHA256 = createHash("sha256")
  .update(
    canonicalJson(
      Object.fromEntries(EVENT_TYPES.map((type) => [type, plain(leafSchema(type))])),
      SCHEMA_DEPTH,
    ),
  )
  .digest("hex");

/** Schema objects carry non-enumerable marks of the library; their JSON is what counts. */
function plain(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema));
}
