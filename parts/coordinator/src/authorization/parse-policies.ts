/** Files of policies, taken apart and judged one by one. */
import {
  type PolicyJson,
  policySetTextToParts,
  policyToJson,
} from "@cedar-policy/cedar-wasm/nodejs";
import { POLICIES, type PolicyId } from "@resontech/contracts/policies";
import { PolicySetInvalid, type PolicyFiles, SCHEMA_FILE } from "./policy-files.ts";
import { isRefusalCode, type RefusalCode } from "./refusals.ts";

/** One policy. A permit has no refusal, a forbid always. */
export type Policy = {
  id: string;
  file: string;
  text: string;
  json: PolicyJson;
  refusal: Refusal | null;
};
/** How a forbid is told: `{scope}` in the message stands for the scope of the action. */
export type Refusal = { id: PolicyId; code: RefusalCode; message: string };

const POLICY_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_MESSAGE = 200;
/** Entities that every appliance has; all others are somebody in particular. */
const NAMED_TYPES: ReadonlySet<string> = new Set([
  "Action",
  "Appliance",
  "Operator",
  "Role",
  "Service",
]);

/** Reads policies in the order of their files. @throws PolicySetInvalid */
export function parsePolicies(files: PolicyFiles): Policy[] {
  const policies = [...files]
    .filter(([name]) => name !== SCHEMA_FILE)
    .flatMap(([file, text]) => partsOf(file, text).map((part) => policyOf(file, part)));
  const seen = new Map<string, string>();
  for (const { id, file } of policies) {
    const other = seen.get(id);
    if (other !== undefined)
      throw new PolicySetInvalid(file, `the id ${id} is taken by a policy of ${other}`);
    seen.set(id, file);
  }
  return policies;
}

function partsOf(file: string, text: string): string[] {
  const parts = policySetTextToParts(text);
  if (parts.type === "failure")
    throw new PolicySetInvalid(file, parts.errors.map(({ message }) => message).join("; "));
  if (parts.policy_templates.length > 0)
    throw new PolicySetInvalid(file, "templates have no place here: nothing would fill them");
  return parts.policies;
}

function policyOf(file: string, text: string): Policy {
  const parsed = policyToJson(text);
  if (parsed.type === "failure")
    throw new PolicySetInvalid(file, parsed.errors.map(({ message }) => message).join("; "));
  const { json } = parsed;
  const id = json.annotations?.["id"] ?? "";
  if (!POLICY_ID.test(id))
    throw new PolicySetInvalid(
      file,
      `a policy needs @id("…") of lower-case letters, digits and -: ${text.slice(0, 80)}`,
    );
  const named = strangersIn(json);
  if (named.length > 0)
    throw new PolicySetInvalid(
      file,
      `${id} names ${named.join(", ")}: policies speak of roles and relations, never of one user, project or node`,
    );
  return { id, file, text, json, refusal: refusalOf(file, id, json) };
}

function refusalOf(file: string, id: string, { effect, annotations }: PolicyJson): Refusal | null {
  const { code, message } = annotations ?? {};
  if (effect === "permit") {
    if (code !== undefined || message !== undefined)
      throw new PolicySetInvalid(file, `${id} permits, so it can't have @code or @message`);
    return null;
  }
  if (!isPolicyId(id))
    throw new PolicySetInvalid(
      file,
      `${id} refuses, but the audit log knows no policy of that name (docs/auditor/entries.md lists them)`,
    );
  if (code === undefined || !isRefusalCode(code))
    throw new PolicySetInvalid(file, `${id} refuses, so it needs @code("…") with a code for it`);
  if (message === undefined || message.length === 0 || message.length > MAX_MESSAGE)
    throw new PolicySetInvalid(
      file,
      `${id} refuses, so it needs @message("…") of at most ${MAX_MESSAGE} characters`,
    );
  return { id, code, message };
}

export function isPolicyId(id: string): id is PolicyId {
  return Object.hasOwn(POLICIES, id);
}

/** Users, projects, nodes and the like that the policy names, as `Project::"p1"`. */
function strangersIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, id } = value as { type?: unknown; id?: unknown };
  const here =
    typeof type === "string" && typeof id === "string" && !NAMED_TYPES.has(type)
      ? [`${type}::${JSON.stringify(id)}`]
      : [];
  return [...here, ...Object.values(value).flatMap(strangersIn)];
}
