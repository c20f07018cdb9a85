import type { Actor } from "@resontech/contracts/audit-event";

/** Whom the access key of a request belongs to, as the coordinator says. */
export type Principal =
  | {
      kind: "user";
      subject: string;
      /** Id of the pair, of which the person may have several, one for each bucket. */
      accessKeyId: string;
      bucket: { name: string; createdAt: number } | null;
    }
  | { kind: "coordinator" }
  /** A key that the coordinator does not know. */
  | { kind: "unknown" }
  /** No signature at all. */
  | { kind: "none" };

/** Who asks, as a record has it, with the key pair in `azp`, and whose key was only claimed. */
export type Asker = { actor: Actor; claimed: string | null };

/** @param isProven whether the engine has found the signature to be of this principal's key */
export function askerOf(principal: Principal, isProven: boolean): Asker {
  const actor = actorOf(principal);
  if (isProven || actor.kind === "anonymous") return { actor, claimed: null };
  return { actor: { sub: "unproven", kind: "anonymous" }, claimed: actor.sub };
}

function actorOf(principal: Principal): Actor {
  switch (principal.kind) {
    case "user":
      return { sub: principal.subject, kind: "user", azp: principal.accessKeyId };
    case "coordinator":
      return { sub: "coordinator", kind: "system" };
    case "unknown":
      return { sub: "unknown-key", kind: "anonymous" };
    case "none":
      return { sub: "anonymous", kind: "anonymous" };
  }
}
