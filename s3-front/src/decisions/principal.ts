import type { Actor } from "@resontech/contracts/audit-event";

/** Whom the access key of a request belongs to, as the coordinator says. */
export type Principal =
  | { kind: "user"; subject: string }
  | { kind: "coordinator" }
  /** A key that the coordinator does not know. */
  | { kind: "unknown" }
  /** No signature at all. */
  | { kind: "none" };

export function actorOf(principal: Principal): Actor {
  switch (principal.kind) {
    case "user":
      return { sub: principal.subject, kind: "user" };
    case "coordinator":
      return { sub: "coordinator", kind: "system" };
    case "unknown":
      return { sub: "unknown-key", kind: "anonymous" };
    case "none":
      return { sub: "anonymous", kind: "anonymous" };
  }
}
