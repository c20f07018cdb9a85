/** Whether files of policies decide anything, as the engine reads them: three quarters of what a set costs before its first answer. */
import { schemaToJson, validate } from "@cedar-policy/cedar-wasm/nodejs";
import { actionRules, type PolicySchema } from "./action-rules.ts";
import { parsePolicies, type Policy } from "./parse-policies.ts";
import { digestOf, type PolicyFiles, PolicySetInvalid, SCHEMA_FILE } from "./policy-files.ts";

/** Plain values: they may be written down, and hold for the very files of this digest. */
export type JudgedPolicies = {
  /** See {@link digestOf}. */
  sha256: string;
  policies: readonly Policy[];
  schema: PolicySchema;
};

/** @throws PolicySetInvalid for a set that is not well formed, or that leaves an action without a rule */
export function judgePolicies(files: PolicyFiles): JudgedPolicies {
  const policies = parsePolicies(files);
  const text = files.get(SCHEMA_FILE)!;
  const schema = schemaOf(text);
  actionRules(schema, policies);
  requireValid(text, policies);
  return { sha256: digestOf(files), policies, schema };
}

export function asSet(policies: readonly Policy[]): { staticPolicies: Record<string, string> } {
  return { staticPolicies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) };
}

function schemaOf(text: string): PolicySchema {
  const parsed = schemaToJson(text);
  if (parsed.type === "failure")
    throw new PolicySetInvalid(SCHEMA_FILE, parsed.errors.map(({ message }) => message).join("; "));
  const { "": schema, ...others } = parsed.json;
  if (schema === undefined || Object.keys(others).length > 0)
    throw new PolicySetInvalid(SCHEMA_FILE, "has namespaces; everything stands in none");
  return schema;
}

/** Warnings as well: a condition that can never be true is a mistake. @throws PolicySetInvalid */
function requireValid(schema: string, policies: readonly Policy[]): void {
  const judged = validate({ schema, policies: asSet(policies) });
  if (judged.type === "failure")
    throw new PolicySetInvalid("policies", judged.errors.map(({ message }) => message).join("; "));
  const [first] = [...judged.validationErrors, ...judged.validationWarnings];
  if (first === undefined) return;
  const file = policies.find(({ id }) => id === first.policyId)?.file ?? "policies";
  throw new PolicySetInvalid(file, `${first.policyId}: ${first.error.message}`);
}
