/** Pure: values of a body that have parts of their own: a format, words that end an answer, weights of tokens, options of a stream. */
import { refuseOthers } from "./check-fields.ts";
import { isObject } from "./is-object.ts";
import { invalidRequest } from "./openai-error.ts";

const MAX_STOPS = 16;
const MAX_WEIGHTS = 1_024;
const MOST_WEIGHT = 100;
const TOKEN = /^\d{1,9}$/;
const FORMATS = ["text", "json_object", "json_schema"] as const;

/** @param value of `response_format` @throws OpenAiError */
export function checkFormat(value: unknown): void {
  const at = "response_format";
  if (!isObject(value)) throw invalidRequest("invalid_type", `${at} is no object`, at);
  const { type, json_schema: told } = value;
  if (!FORMATS.includes(type as (typeof FORMATS)[number]))
    throw invalidRequest(
      "invalid_value",
      `${at}.type is one of ${FORMATS.join(", ")}`,
      `${at}.type`,
    );
  refuseOthers(value, type === "json_schema" ? ["type", "json_schema"] : ["type"], at);
  if (type !== "json_schema") return;
  if (!isObject(told))
    throw invalidRequest("invalid_type", `${at}.json_schema is no object`, `${at}.json_schema`);
  refuseOthers(told, ["name", "description", "schema", "strict"], `${at}.json_schema`);
  // Without one an engine would take any JSON for right.
  if (!isObject(told["schema"]))
    throw invalidRequest(
      "invalid_type",
      `${at}.json_schema.schema is no JSON schema`,
      `${at}.json_schema.schema`,
    );
}

/** @param value of `stop` @throws OpenAiError */
export function checkStop(value: unknown): void {
  const stops = typeof value === "string" ? [value] : value;
  if (!Array.isArray(stops) || !stops.every((one) => typeof one === "string" && one !== ""))
    throw invalidRequest("invalid_type", "stop is neither a text nor a list of texts", "stop");
  if (stops.length > MAX_STOPS)
    throw invalidRequest("too_large", `stop has more than ${MAX_STOPS} texts`, "stop");
}

/** @param value of `logit_bias` @throws OpenAiError */
export function checkWeights(value: unknown): void {
  const at = "logit_bias";
  if (!isObject(value)) throw invalidRequest("invalid_type", `${at} is no object`, at);
  const weights = Object.entries(value);
  if (weights.length > MAX_WEIGHTS)
    throw invalidRequest("too_large", `${at} has more than ${MAX_WEIGHTS} tokens`, at);
  const isWeight = (one: unknown) =>
    typeof one === "number" && one >= -MOST_WEIGHT && one <= MOST_WEIGHT;
  if (!weights.every(([token, weight]) => TOKEN.test(token) && isWeight(weight)))
    throw invalidRequest(
      "invalid_value",
      `${at} gives numbers of tokens a number from -${MOST_WEIGHT} to ${MOST_WEIGHT} each`,
      at,
    );
}

/** @param value of `stream_options` @throws OpenAiError */
export function checkStreamOptions(value: unknown): void {
  const at = "stream_options";
  if (!isObject(value)) throw invalidRequest("invalid_type", `${at} is no object`, at);
  const names = ["include_usage", "include_obfuscation"];
  refuseOthers(value, names, at);
  for (const name of names)
    if (typeof (value[name] ?? false) !== "boolean")
      throw invalidRequest(
        "invalid_type",
        `${at}.${name} is neither true nor false`,
        `${at}.${name}`,
      );
}
