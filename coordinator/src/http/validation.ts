import { Ajv, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";

/** Bodies are taken as they are: no coercion, no dropped fields, one error. Query strings hold text alone, so numbers are read from it. */
const options = { removeAdditional: false, useDefaults: true, allErrors: false, strict: true, strictTypes: false } as const;

export function schemaValidators(): FastifySchemaCompiler<TSchema> {
  const exact = new Ajv({ ...options, coerceTypes: false });
  const fromText = new Ajv({ ...options, coerceTypes: true });
  return ({ schema, httpPart }): ValidateFunction => (httpPart === "body" ? exact : fromText).compile(schema);
}
