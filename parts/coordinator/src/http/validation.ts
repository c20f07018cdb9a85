import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";

/** Bodies are taken as they are: no coercion, no dropped fields, one error. Query strings hold text alone, so numbers are read from it. */
const options = {
  removeAdditional: false,
  useDefaults: true,
  allErrors: false,
  strict: true,
  strictTypes: false,
} as const;
/** Ajv reads `1e400` as Infinity, which is an integer to it, and `0x10` as sixteen. */
const DECIMAL = /^-?[0-9]{1,16}$/;

export function schemaValidators(): FastifySchemaCompiler<TSchema> {
  const exact = new Ajv({ ...options, coerceTypes: false });
  const fromText = new Ajv({ ...options, coerceTypes: true });
  return ({ schema, httpPart }): ValidateFunction =>
    httpPart === "body"
      ? exact.compile(schema)
      : withPlainIntegers(schema, fromText.compile(schema));
}

/** Refuses what is no plain decimal number, before Ajv reads it as one. */
function withPlainIntegers(schema: TSchema, validate: ValidateFunction): ValidateFunction {
  const properties: Record<string, unknown> =
    "properties" in schema ? (schema.properties as Record<string, unknown>) : {};
  const integers = Object.keys(properties).filter((name) => typeOf(properties[name]) === "integer");
  if (integers.length === 0) return validate;
  const checked = (data: Record<string, unknown>): boolean => {
    const wrong = integers.find(
      (name) => typeof data[name] === "string" && !isPlainInteger(data[name]),
    );
    const isValid = wrong === undefined && validate(data);
    // The message of Ajv itself for a word in place of a number.
    const refused: ErrorObject[] = [
      {
        instancePath: `/${wrong}`,
        schemaPath: "",
        keyword: "type",
        params: { type: "integer" },
        message: "must be integer",
      },
    ];
    checked.errors = wrong === undefined ? validate.errors : refused;
    return isValid;
  };
  checked.errors = null as ValidateFunction["errors"];
  return checked as unknown as ValidateFunction;
}

function isPlainInteger(text: string): boolean {
  return DECIMAL.test(text) && Number.isSafeInteger(Number(text));
}

function typeOf(schema: unknown): unknown {
  return typeof schema === "object" && schema !== null ? Reflect.get(schema, "type") : undefined;
}
