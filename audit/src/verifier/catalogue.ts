/** What the log may hold, as this release knows it: data that is built in, see build/verifier-catalogue.ts. */
import data from "./catalogue.json" with { type: "json" };
import type { Schema } from "./schema.ts";

export type TypeRule = { phases: readonly string[]; object: string /** Milliseconds. */; maxOpenMs: number; detail: Schema };

type Catalogue = { schemaSha256: string; envelope: Schema; types: Readonly<Record<string, TypeRule>> };
const { schemaSha256, envelope, types } = data as unknown as Catalogue;

export const SCHEMA_SHA256 = schemaSha256;
/** Members that every type shares: closed, but for `type`, `phase` and `detail`. */
export const ENVELOPE = envelope;

export function ruleOf(type: string): TypeRule | null {
  return Object.hasOwn(types, type) ? types[type]! : null;
}
