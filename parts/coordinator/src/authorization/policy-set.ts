import {
  preparsePolicySet,
  preparseSchema,
  type SchemaJson,
  schemaToJson,
  statefulIsAuthorized,
  validate,
} from "@cedar-policy/cedar-wasm/nodejs";
import { KEY_SCOPES, type KeyScope } from "@resontech/contracts/http-identity";
import { type Action, ACTIONS, STAND_INS } from "./actions.ts";
import { type ContextMember, CONTEXT_MEMBERS, contextMembersRead } from "./context-members.ts";
import { parsePolicies, type Policy, type Refusal } from "./parse-policies.ts";
import { digestOf, type PolicyFiles, PolicySetInvalid, SCHEMA_FILE } from "./policy-files.ts";
import {
  type PrincipalClass,
  cedarCallOf,
  type AuthorizationRequest,
} from "./authorization-request.ts";
import { REFUSAL_CODES } from "./refusals.ts";
import { RESOURCES } from "./resources.ts";

/** @property isGranted some permit would allow it, were it not for the forbids in `by`; `by`: ids of what decided */
export type Answer = { isAllowed: boolean; isGranted: boolean; by: readonly string[] };
/** For people: no text of the policy, which stands in the files. */
export type PolicyFacts = { id: string; file: string; effect: "permit" | "forbid" };

/** More different questions than an appliance has; kept by mistake they would grow without end. */
const MAX_ANSWERS = 20_000;

/** The engine could not judge: a bug or a broken set, never a refusal. */
export class PolicyEvaluationFailed extends Error {
  override readonly name = "PolicyEvaluationFailed";
}

/** Policies that were read, judged and parsed once. Answers are kept: they depend on the question alone. */
export class PolicySet {
  /** See {@link digestOf}. */
  readonly sha256: string;
  readonly policies: readonly PolicyFacts[];
  /** As they were read. */
  readonly files: PolicyFiles;
  readonly #refusals: ReadonlyMap<string, Refusal>;
  readonly #actions: ReadonlyMap<string, ActionRules>;
  /** Members of the context that its schema has. */
  readonly #context: ReadonlySet<string>;
  readonly #answers = new Map<string, Answer>();

  /** @throws PolicySetInvalid for a set that is not well formed, or that leaves an action without a rule */
  static load(files: PolicyFiles): PolicySet {
    return new PolicySet(files);
  }

  private constructor(files: PolicyFiles) {
    this.files = files;
    this.sha256 = digestOf(files);
    const policies = parsePolicies(files);
    const schema = files.get(SCHEMA_FILE)!;
    const parsed = schemaOf(schema);
    this.#actions = actionRules(parsed, policies);
    this.#context = contextMembersOf(parsed);
    requireValid(schema, policies);
    this.policies = policies.map(({ id, file, json: { effect } }) => ({ id, file, effect }));
    this.#refusals = new Map(
      policies.flatMap(({ id, refusal }) => (refusal === null ? [] : [[id, refusal] as const])),
    );
    // The engine keeps what it parsed by name; a set never changes under its digest.
    const permits = policies.filter(({ refusal }) => refusal === null);
    requireParsed(SCHEMA_FILE, preparseSchema(this.sha256, schema));
    requireParsed("policies", preparsePolicySet(this.sha256, asSet(policies)));
    requireParsed("policies", preparsePolicySet(this.#permitsName, asSet(permits)));
  }

  /** Whether callers of the kind may ask for it at all. */
  mayAsk({ type }: PrincipalClass, action: Action): boolean {
    return this.#rulesOf(action).callers.has(type);
  }

  /** The scope that a platform key needs for the action. */
  scopeOf(action: Action): KeyScope | null {
    return this.#rulesOf(action).scope;
  }

  /** @throws PolicyEvaluationFailed */
  answer(request: AuthorizationRequest): Answer {
    const key = this.#keyOf(request);
    if (key === null) return this.#ask(request);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#ask(request);
    if (this.#answers.size >= MAX_ANSWERS) this.#answers.clear();
    this.#answers.set(key, answer);
    return answer;
  }

  /** Of the forbids that stand in the way, the one that is told. */
  refusalBy(by: readonly string[], action: Action): Refusal {
    const refusals = by.flatMap((id) => this.#refusals.get(id) ?? []);
    for (const code of REFUSAL_CODES) {
      const told = refusals.find((refusal) => refusal.code === code);
      if (told !== undefined)
        return { ...told, message: told.message.replace("{scope}", this.scopeOf(action) ?? "") };
    }
    throw new PolicyEvaluationFailed(`${action} is refused by no policy that has a code`);
  }

  #ask({ action, ...request }: AuthorizationRequest): Answer {
    const asked = this.#rulesOf(action).decidedAs;
    const call = cedarCallOf({ ...request, action: asked }, this.#context);
    const { decision, by } = this.#authorize(call, this.sha256);
    if (decision === "allow") return { isAllowed: true, isGranted: true, by };
    if (by.length === 0) return { isAllowed: false, isGranted: false, by };
    const isGranted = this.#authorize(call, this.#permitsName).decision === "allow";
    return { isAllowed: false, isGranted, by };
  }

  #authorize(
    call: ReturnType<typeof cedarCallOf>,
    preparsedPolicySetId: string,
  ): { decision: "allow" | "deny"; by: string[] } {
    const answer = statefulIsAuthorized({
      ...{ ...call, preparsedPolicySetId, preparsedSchemaName: this.sha256 },
      validateRequest: true,
    });
    if (answer.type === "failure")
      throw new PolicyEvaluationFailed(answer.errors.map(({ message }) => message).join("; "));
    const { decision, diagnostics } = answer.response;
    // A policy that fails is left out by the engine: a forbid would let through what it is there to refuse.
    if (diagnostics.errors.length > 0)
      throw new PolicyEvaluationFailed(
        diagnostics.errors.map(({ policyId, error }) => `${policyId}: ${error.message}`).join("; "),
      );
    return { decision, by: diagnostics.reason.toSorted() };
  }

  /** What the answer depends on; null where that changes by itself. */
  #keyOf({ action, principal, resource, context }: AuthorizationRequest): string | null {
    const { reads } = this.#rulesOf(action);
    if (reads.has("now")) return null;
    const read = [...reads].map((name) => context[name]);
    return JSON.stringify([action, principal, resource, read]);
  }

  #rulesOf(action: Action): ActionRules {
    return this.#actions.get(action)!;
  }

  get #permitsName(): string {
    return `${this.sha256} permits`;
  }
}

/** @property decidedAs the action that the set has rules for: itself, or its stand-in */
type ActionRules = {
  decidedAs: Action;
  callers: ReadonlySet<string>;
  scope: KeyScope | null;
  reads: ReadonlySet<ContextMember>;
};
type Schema = SchemaJson<string>[string];

function schemaOf(text: string): Schema {
  const parsed = schemaToJson(text);
  if (parsed.type === "failure")
    throw new PolicySetInvalid(SCHEMA_FILE, parsed.errors.map(({ message }) => message).join("; "));
  const { "": schema, ...others } = parsed.json;
  if (schema === undefined || Object.keys(others).length > 0)
    throw new PolicySetInvalid(SCHEMA_FILE, "has namespaces; everything stands in none");
  return schema;
}

/** @throws PolicySetInvalid unless the schema's actions are ours, on the same kinds of row, each with a permit */
function actionRules(schema: Schema, policies: readonly Policy[]): Map<string, ActionRules> {
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
function contextMembersOf({ commonTypes }: Schema): ReadonlySet<string> {
  const told = commonTypes?.["Circumstances"];
  const isRecord = told !== undefined && "attributes" in told && told.attributes !== undefined;
  return new Set(isRecord ? Object.keys(told.attributes) : CONTEXT_MEMBERS);
}

/** The action itself and every group that it stands in. */
function groupsOf(schema: Schema, action: string, found = new Set<string>()): Set<string> {
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

function requireParsed(file: string, parsed: ReturnType<typeof preparsePolicySet>): void {
  if (parsed.type === "failure")
    throw new PolicySetInvalid(file, parsed.errors.map(({ message }) => message).join("; "));
}

function asSet(policies: readonly Policy[]): { staticPolicies: Record<string, string> } {
  return { staticPolicies: Object.fromEntries(policies.map(({ id, text }) => [id, text])) };
}
