/** Pure: the fields of a body by the table contracts/src/inference/openai-fields.ts: which there are, what values they may have, and what an engine does with them. */
import { isDeepStrictEqual } from "node:util";
import {
  type FieldShape,
  OPENAI_FIELDS,
  type OpenAiEngine,
  type OpenAiField,
  PASSED_OVER,
  useOf,
} from "@resontech/contracts/openai-fields";
import type { OpenAiAsked } from "@resontech/contracts/openai-surface";
import { invalidRequest } from "./openai-error.ts";

const MAX_NAME_CHARS = 100;

export type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields that may change an answer. Null is as good as absent.
 * @throws OpenAiError unknown_parameter, invalid_type, invalid_value
 */
export function knownFields(call: OpenAiAsked, said: Fields): Record<string, unknown> {
  const known: [string, unknown][] = [];
  for (const [name, value] of Object.entries(said)) {
    if (PASSED_OVER[call].includes(name)) continue;
    const field = fieldOf(call, name);
    if (field === null) throw unknownParameter(name);
    if (value === null) continue;
    checkShape(field.shape, value, name);
    known.push([name, value]);
  }
  return Object.fromEntries(known);
}

/**
 * The fields that the engine is asked for.
 * @param engine null where the coordinator does not say
 * @throws OpenAiError unsupported_by_model, where the engine would leave one out that changes the answer
 */
export function fieldsForEngine(
  call: OpenAiAsked,
  engine: OpenAiEngine | null,
  known: Fields,
): Record<string, unknown> {
  const kept = Object.entries(known).filter(([name, value]) => {
    const field = fieldOf(call, name);
    if (field === null) throw unknownParameter(name);
    if (useOf(field.uses, call, engine) !== "refused") return true;
    if (!isNeutral(field, value, known)) throw notDone(name, engine);
    return false;
  });
  return Object.fromEntries(kept);
}

/** @throws OpenAiError for a name that the place does not have; one with null says nothing */
export function refuseOthers(said: Fields, names: readonly string[], at: string): void {
  for (const [name, value] of Object.entries(said))
    if (value !== null && !names.includes(name)) throw unknownParameter(`${at}.${name}`);
}

/** Makes the refusal of a field, or a part of one, that this engine does nothing with. */
export function notDone(param: string, engine: OpenAiEngine | null): Error {
  return invalidRequest(
    "unsupported_by_model",
    `${engine ?? "the model"} does not do ${param}, and would leave it out: send the call without it`,
    param,
  );
}

function fieldOf(call: OpenAiAsked, name: string): OpenAiField | null {
  const fields = OPENAI_FIELDS[call];
  return Object.hasOwn(fields, name) ? fields[name]! : null;
}

function unknownParameter(name: string): Error {
  const shown = name.slice(0, MAX_NAME_CHARS);
  return invalidRequest(
    "unknown_parameter",
    `Unknown parameter: '${shown}'. Send the call without it`,
    shown,
  );
}

function isNeutral({ neutral = [], neutralAs }: OpenAiField, value: unknown, all: Fields): boolean {
  if (neutralAs !== undefined && value === (all[neutralAs] ?? 1)) return true;
  return neutral.some((one) => isDeepStrictEqual(one, value));
}

function checkShape(shape: FieldShape, value: unknown, name: string): void {
  const wrong = (what: string) => invalidRequest("invalid_type", `${name} is ${what}`, name);
  if (shape.kind === "boolean" && typeof value !== "boolean") throw wrong("neither true nor false");
  if (shape.kind === "text" && typeof value !== "string") throw wrong("no text");
  if (shape.kind === "word" && !shape.words.includes(value as string))
    throw invalidRequest("invalid_value", `${name} is one of ${shape.words.join(", ")}`, name);
  if (shape.kind !== "integer" && shape.kind !== "number") return;
  if (typeof value !== "number") throw wrong("no number");
  if (shape.kind === "integer" && !Number.isInteger(value)) throw wrong("no whole number");
  if (value < shape.least || value > shape.most)
    throw invalidRequest(
      "invalid_value",
      `${name} is a number from ${shape.least} to ${shape.most}`,
      name,
    );
}
