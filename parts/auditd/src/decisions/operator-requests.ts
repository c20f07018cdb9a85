/** What auditd records of an operator's requests on its control socket, beyond what each does to the log. Pure. */
import { AuditControlRequest } from "@resontech/contracts/audit-control";
import { AUDITD } from "./ledger.ts";
import type { OwnDraft } from "./restate.ts";

/** Root, whoever that is: only where two people agree does a request name them. */
const OPERATOR = { sub: "appliance", kind: "operator" } as const;

const VERBS: ReadonlySet<unknown> = new Set(
  AuditControlRequest.anyOf.map(({ properties }) => properties.verb.const),
);

/** Names what was asked for as a record does: `auditd open-shard`, or `auditd` alone for what is no request. It never says what somebody wrote in a verb's place. */
export function actionOf(request: unknown): string {
  const verb =
    typeof request === "object" && request !== null && "verb" in request ? request.verb : null;
  return VERBS.has(verb) ? `${AUDITD} ${String(verb)}` : AUDITD;
}

/** @param reason code of the refusal */
export function requestRefused(action: string, reason: string): OwnDraft<"admin.refused"> {
  return {
    type: "admin.refused",
    actor: OPERATOR,
    action,
    object: { kind: "appliance", id: AUDITD },
    detail: { reason },
  };
}

export function clockVouched(): OwnDraft<"audit.clock.vouched"> {
  const action = actionOf({ verb: "clock-is-right" });
  return {
    type: "audit.clock.vouched",
    actor: OPERATOR,
    action,
    object: { kind: "log", id: AUDITD },
    detail: {},
  };
}
