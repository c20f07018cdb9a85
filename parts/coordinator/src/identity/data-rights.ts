/** Whether a person may see the data of a project: asked for what acts in the name of a person and asks nobody, a key pair or a service account. */
import { wouldAllow } from "../authorization/decide.ts";
import type { SessionCaller } from "../authorization/caller.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { grantsOf, SECOND_FACTOR } from "./decisions/people-roles.ts";
import { heldBy, membershipsOf } from "./people-store.ts";
import { rolesOf } from "./role-holders.ts";

/** Asked as the person who signed in: nothing that acts for a person sees more than a page would show. Inside a transaction and out of one. */
export function maySeeData(
  db: Pick<ReadHandle, "prepare">,
  { userId, projectId }: { userId: string; projectId: string },
): boolean {
  const person: SessionCaller = {
    ...{ kind: "session", sessionId: "", userId, projectId },
    grants: grantsOf(rolesOf(db, userId), membershipsOf(db, userId)),
    holds: heldBy(db, userId),
    signIn: { acr: SECOND_FACTOR, at: Date.now() },
  };
  return wouldAllow(person, "bucket.read", { projectId });
}
