/** What the log may hold, as this release knows it: data that is built in, see build/verifier-catalogue.ts. */
import data from "./catalogue.json" with { type: "json" };
import { type Check, checkOf, objectCheck, type Schema } from "./schema.ts";

type Rule<Content> = {
  phases: readonly string[];
  object: string /** Milliseconds. */;
  maxOpenMs: number;
  detail: Content;
};
export type TypeRule = Rule<Check>;

type Catalogue = {
  schemaSha256: string;
  envelope: Schema;
  types: Readonly<Record<string, Rule<Schema>>>;
};
const { schemaSha256, envelope, types } = data as unknown as Catalogue;
const rules = new Map<string, TypeRule>();
for (const [type, rule] of Object.entries(types))
  rules.set(type, { ...rule, detail: checkOf(rule.detail) });

export const SCHEMA_SHA256 = schemaSha256;
export const ENVELOPE = envelope;
export const TYPES = types;
/** Members that every type shares: closed, but for `type`, `phase` and `detail`. */
export const checkEnvelope: Check = objectCheck(envelope, ["type", "phase", "detail"]);

export function ruleOf(type: string): TypeRule | null {
  return rules.get(type) ?? null;
}
