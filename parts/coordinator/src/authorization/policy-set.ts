import {
  preparsePolicySet,
  preparseSchema,
  statefulIsAuthorized,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { KeyScope } from "@resontech/contracts/http-identity";
import { type ActionRules, actionRules, contextMembersOf } from "./action-rules.ts";
import type { Action } from "./actions.ts";
import { asSet, judgePolicies, type JudgedPolicies } from "./judge-policies.ts";
import { JUDGED_AT_BUILD } from "./judged-at-build.ts";
import type { Refusal } from "./parse-policies.ts";
import { digestOf, type PolicyFiles, PolicySetInvalid, SCHEMA_FILE } from "./policy-files.ts";
import {
  type PrincipalClass,
  cedarCallOf,
  type AuthorizationRequest,
} from "./authorization-request.ts";
import { REFUSAL_CODES } from "./refusals.ts";

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

  /**
   * @param known a set that was judged before: these files are, unless they are the very ones
   * @throws PolicySetInvalid for a set that is not well formed, or that leaves an action without a rule
   */
  static load(files: PolicyFiles, known: JudgedPolicies | null = JUDGED_AT_BUILD): PolicySet {
    const sha256 = digestOf(files);
    return new PolicySet(files, known?.sha256 === sha256 ? known : judgePolicies(files));
  }

  private constructor(files: PolicyFiles, { sha256, policies, schema }: JudgedPolicies) {
    this.files = files;
    this.sha256 = sha256;
    this.#actions = actionRules(schema, policies);
    this.#context = contextMembersOf(schema);
    this.policies = policies.map(({ id, file, json: { effect } }) => ({ id, file, effect }));
    this.#refusals = new Map(
      policies.flatMap(({ id, refusal }) => (refusal === null ? [] : [[id, refusal] as const])),
    );
    // The engine keeps what it parsed by name; a set never changes under its digest.
    const permits = policies.filter(({ refusal }) => refusal === null);
    requireParsed(SCHEMA_FILE, preparseSchema(this.sha256, files.get(SCHEMA_FILE)!));
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

function requireParsed(file: string, parsed: ReturnType<typeof preparsePolicySet>): void {
  if (parsed.type === "failure")
    throw new PolicySetInvalid(file, parsed.errors.map(({ message }) => message).join("; "));
}
