import type { Requested } from "@resontech/contracts/http-approvals";

/** What is asked for as it is kept, signed and performed: the order in which people are named is none of its meaning. */
export function asKept(asked: Requested): Requested {
  return asked.kind === "disclosure" ? { ...asked, subjects: asked.subjects.toSorted() } : asked;
}
