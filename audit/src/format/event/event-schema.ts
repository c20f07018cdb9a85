import { createHash } from "node:crypto";
import {
  EVENT_TYPES,
  type EventType,
  leafSchema,
  sentSchema,
} from "@resontech/contracts/audit-catalogue";
import { Compile, type Validator } from "typebox/compile";
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

const validators = new Map<EventType, Validator>();
const types: ReadonlySet<unknown> = new Set(EVENT_TYPES);

export function isEventType(type: unknown): type is EventType {
  return types.has(type);
}

/** The first violation of the type's schema by an event as a producer sends it; null when there is none. */
export function schemaViolation(type: EventType, event: unknown): string | null {
  let validator = validators.get(type);
  if (validator === undefined) {
    validator = Compile(sentSchema(type));
    validators.set(type, validator);
  }
  if (validator.Check(event)) return null;
  const [error] = validator.Errors(event);
  return error === undefined
    ? "does not match its schema"
    : `${error.instancePath || "/"} ${error.message}`;
}

/** Schema objects carry non-enumerable marks of the library; their JSON is what counts. */
function plain(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema));
}
