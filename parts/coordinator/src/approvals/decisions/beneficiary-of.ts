import type { Requested } from "@resontech/contracts/http-approvals";

/** Who gains by a request, as a user here or a name in the operator's files; null where nobody in particular does. Nobody approves what they gain by. */
export function beneficiaryOf(what: Requested): string | null {
  switch (what.kind) {
    case "role":
      return what.change === "grant" ? what.userId : null;
    case "second-factor":
      return what.userId;
    case "erasure":
    case "lift":
      return what.subject;
    case "disclosure":
      return what.receiver;
    case "hold":
    case "policy":
    case "audit-policy":
    case "quota":
    case "export":
    case "image":
    case "share":
      return null;
  }
}
