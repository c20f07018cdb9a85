/** What of the moment the policies of an action look at: an answer holds as long as that stays the same. */
import type { PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";
import type { RequestContext } from "./authorization-request.ts";

export type ContextMember = keyof RequestContext;
export const CONTEXT_MEMBERS: readonly ContextMember[] = [
  "now",
  "zone",
  "singlePerson",
  "signIn",
  "approval",
  "proof",
  "holds",
];

/** Members of `context` that a policy reads; all of them where it takes the context as a whole. */
export function contextMembersRead({ conditions }: PolicyJson): ReadonlySet<ContextMember> {
  const read = new Set<ContextMember>();
  look(conditions, null);
  return read;

  /** @param member that is read of `value`; null where it is used as it is */
  function look(value: unknown, member: string | null): void {
    if (typeof value !== "object" || value === null) return;
    const node = value as Record<string, unknown>;
    if (node["Var"] === "context")
      for (const name of CONTEXT_MEMBERS) if (member === null || member === name) read.add(name);
    for (const [operator, operand] of Object.entries(node)) {
      const { left, attr } = (operand ?? {}) as { left?: unknown; attr?: unknown };
      const reads = operator === "." || operator === "has";
      if (reads && typeof attr === "string") look(left, attr);
      else look(operand, null);
    }
  }
}
