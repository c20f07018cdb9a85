/** What a set of policies says of each action, before anybody asks. Pure. */
import type { SchemaJson } from "@cedar-policy/cedar-wasm/nodejs";
import { KEY_SCOPES, type KeyScope } from "@resontech/contracts/http-identity";
import { type Action, ACTIONS, STAND_INS } from "./actions.ts";
import { type ContextMember, CONTEXT_MEMBERS, contextMembersRead } from "./context-members.ts";
import type { Policy } from "./parse-policies.ts";
import { PolicySetInvalid, SCHEMA_FILE } from "./policy-files.ts";
import { RESOURCES } from "./resources.ts";

export type PolicySchema = SchemaJson<string>[string];

/** @property decidedAs the action that the set has rules for: itself, or its stand-in */
export type ActionRules = {
  decidedAs: Action;
  callers: ReadonlySet<string>;
  scope: KeyScope | null;
  reads: ReadonlySet<ContextMember>;
};

/** @throws PolicySetInvalid unless the schema's actions are ours, on the same kinds of row, each with a permit */
export function actionRules(
  schema: PolicySchema,
  policies: readonly Policy[],
): Map<string, ActionRules> {
  const known: ReadonlyMap<string, string> = new Map(
    Object.entries(ACTIONS).map(([action, kind]) => [action, RESOURCES[kind].type]),
  );
  const asked = Object.entries(schema.actions).filter(
    ([, { appliesTo }]) => appliesTo !== undefined && appliesTo.principalTypes.length > 0,
  );
  const isAsked = (action: string) => asked.some(([name]) => name === action);
  const missing = [...known.keys()].find(
    (action) => !isAsked(action) && !isAsked(STAND_INS[action as Action] ?? action),
  );
  if (missing !== undefined) throw new PolicySetInvalid(SCHEMA_FILE, `has no action ${missing}`);
  const rules = new Map(
    asked.map(([action, { appliesTo }]) => {
      const type = known.get(action);
      if (type === undefined)
        throw new PolicySetInvalid(SCHEMA_FILE, `has an action ${action}, which nobody asks for`);
      if (appliesTo?.resourceTypes.join() !== type)
        throw new PolicySetInvalid(SCHEMA_FILE, `${action} is done to ${type} and to nothing else`);
      const groups = groupsOf(schema, action);
      const its = policies.filter(({ json }) => concerns(json.action, groups));
      if (!its.some(({ refusal }) => refusal === null))
        throw new PolicySetInvalid("policies", `no policy permits anybody ${action}`);
      const rules: ActionRules = {
        decidedAs: action as Action,
        callers: new Set(appliesTo.principalTypes),
        scope: KEY_SCOPES.find((scope) => groups.has(scope)) ?? null,
        reads: new Set(its.flatMap(({ json }) => [...contextMembersRead(json)])),
      };
      return [action, rules];
    }),
  );
  for (const [action, standIn] of Object.entries(STAND_INS))
    if (!rules.has(action)) rules.set(action, rules.get(standIn)!);
  return rules;
}

/** Names of what the schema tells of the moment; a type of another name is one that this release wrote, with all of them. */
export function contextMembersOf({ commonTypes }: PolicySchema): ReadonlySet<string> {
  const told = commonTypes?.["Circumstances"];
  const isRecord = told !== undefined && "attributes" in told && told.attributes !== undefined;
  return new Set(isRecord ? Object.keys(told.attributes) : CONTEXT_MEMBERS);
}

/** The action itself and every group that it stands in. */
function groupsOf(schema: PolicySchema, action: string, found = new Set<string>()): Set<string> {
  if (found.has(action)) return found;
  found.add(action);
  for (const { id } of schema.actions[action]?.memberOf ?? []) groupsOf(schema, id, found);
  return found;
}

function concerns(scope: Policy["json"]["action"], groups: ReadonlySet<string>): boolean {
  if (scope.op === "All") return true;
  const named = "entities" in scope ? scope.entities : "entity" in scope ? [scope.entity] : [];
  return named.some((uid) => groups.has("__entity" in uid ? uid.__entity.id : uid.id));
}
