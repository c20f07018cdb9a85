import type { EventDraft } from "@resontech/contracts/audit-draft";

type About = Pick<EventDraft, "actor" | "object" | "on_behalf_of"> & { detail?: unknown };

/** Who called without a name: values that nobody can ask to have erased one by one. */
export const ANONYMOUS = "anonymous";

/**
 * Whom the personal values of an event concern: the pseudonym under which they are erased together. Where a key was only claimed they are its owner's: the path
 * that was asked for lies in his bucket.
 */
export function subjectOf({ actor, object, on_behalf_of, detail }: About): string {
  if (object.kind === "user") return object.id;
  if (on_behalf_of !== undefined) return on_behalf_of;
  if (actor.kind !== "anonymous") return actor.sub;
  const claimed =
    typeof detail === "object" && detail !== null && "claimed" in detail
      ? detail.claimed
      : undefined;
  return typeof claimed === "string" ? claimed : ANONYMOUS;
}
