/**
 * The catalogue as the verifier carries it: schemas as data, without the library that made them. `node verifier/build/verifier-catalogue.ts` writes
 * `src/leaf/catalogue.json`; a test fails when the two differ.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CatalogueEntry,
  EVENT_CATALOGUE,
  EVENT_TYPES,
  leafSchema,
} from "@resontech/contracts/audit-catalogue";
import { SCHEMA_SHA256 } from "@resontech/audit/format/event/schema-digest";

export const CATALOGUE_FILE = join(import.meta.dirname, "../src/leaf/catalogue.json");

export function catalogueText(): string {
  const { properties, required } = plain(leafSchema("audit.stop")) as {
    properties: Record<string, unknown>;
    required: string[];
  };
  const { type: _type, phase: _phase, detail: _detail, ...shared } = properties;
  const types = EVENT_TYPES.map((type) => {
    const { phases, object, maxOpenMs, detail }: CatalogueEntry = EVENT_CATALOGUE[type];
    return [type, { phases, object, maxOpenMs, detail: plain(detail) }];
  });
  const catalogue = {
    schemaSha256: SCHEMA_SHA256,
    envelope: {
      type: "object",
      properties: shared,
      required: required.filter((name) => name !== "type" && name !== "phase"),
      additionalProperties: false,
    },
    types: Object.fromEntries(types),
  };
  return `${JSON.stringify(catalogue, null, 1)}\n`;
}

/** Schema objects carry marks of their library; their JSON is what counts. */
function plain(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema));
}

if (import.meta.main) writeFileSync(CATALOGUE_FILE, catalogueText());
