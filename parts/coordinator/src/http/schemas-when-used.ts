/**
 * Schemas of routes become code when a route is first called. All of them at the start of the process cost 0.8 s of CPU, and most routes are not called
 * for hours.
 */
import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";
import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";

type Factories = NonNullable<
  NonNullable<FastifyServerOptions["schemaController"]>["compilersFactory"]
>;
type Validator = { (this: unknown, value: unknown): unknown; errors?: unknown };

/** @param compile what makes a validator of a schema at once */
export function validatorsWhenUsed<T>(compile: FastifySchemaCompiler<T>): FastifySchemaCompiler<T> {
  return (route) => {
    let compiled: Validator | null = null;
    const validate: Validator = (value) => {
      compiled ??= compile(route) as Validator;
      const verdict = compiled(value);
      // Who asked reads them of the validator that was asked.
      validate.errors = compiled.errors ?? null;
      return verdict;
    };
    return validate as ReturnType<FastifySchemaCompiler<T>>;
  };
}

/** Of answers, as Fastify makes them otherwise. */
export const serializersWhenUsed: NonNullable<Factories["buildSerializer"]> = (
  sharedSchemas,
  options,
) => {
  const build = SerializerSelector();
  return (route) => {
    let serialize: ((answer: unknown) => string) | null = null;
    // Each with shared schemas of its own: to compile one may take a schema out of them.
    return (answer) => (serialize ??= build(sharedSchemas, options)(route))(answer);
  };
};
