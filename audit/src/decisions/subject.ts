import type { EventDraft } from "@resontech/contracts/audit-draft";

/** Who called without a name: values that nobody can ask to have erased one by one. */
export const ANONYMOUS = "anonymous";

/** Whom the personal values of an event concern: the pseudonym under which they are erased together. */
export function subjectOf({ actor, object, on_behalf_of }: Pick<EventDraft, "actor" | "object" | "on_behalf_of">): string {
  if (object.kind === "user") return object.id;
  if (on_behalf_of !== undefined) return on_behalf_of;
  return actor.kind === "anonymous" ? ANONYMOUS : actor.sub;
}
