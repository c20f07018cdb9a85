import { EVENT_TYPES, type EventType, sentSchema } from "@resontech/contracts/audit-catalogue";
import { Compile, type Validator } from "typebox/compile";

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
