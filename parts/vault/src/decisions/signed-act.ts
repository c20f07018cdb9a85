/** What each act of the vault takes: who must sign, and for exactly what. Pure. */
import type {
  DiscloseRequest,
  EraseRequest,
  HoldRequest,
  LiftRequest,
} from "@resontech/contracts/vault-control";
import type { ActToApprove } from "@resontech/audit/approvals/decisions/proof-objection";

export type SignedRequest = EraseRequest | HoldRequest | LiftRequest | DiscloseRequest;

const OFFICERS = ["security-officer"];
/** Either asks, another of them agrees. */
const KEEPERS = { requesterRoles: ["security-officer", "data-steward"] } as const;
const TWO_KEEPERS = { ...KEEPERS, approverRoles: KEEPERS.requesterRoles };

export function signedAct(asked: SignedRequest): ActToApprove {
  switch (asked.verb) {
    case "erase": {
      const { subject, request, legalBasis } = asked;
      return {
        what: { kind: "erasure", subject, request, legalBasis },
        ...{ ...TWO_KEEPERS, beneficiaries: [subject] },
      };
    }
    case "hold": {
      const { subject, hold } = asked;
      return {
        what: { kind: "hold", subject, hold },
        ...{ requesterRoles: OFFICERS, approverRoles: [], signers: "one" },
      };
    }
    case "lift": {
      const { subject, hold } = asked;
      return {
        what: { kind: "lift", subject, hold },
        ...{ ...TWO_KEEPERS, signers: "two", beneficiaries: [subject] },
      };
    }
    case "disclose": {
      const { origin, receiver } = asked;
      return {
        what: {
          kind: "disclosure",
          shard: origin.slice(origin.indexOf("/") + 1),
          subjects: asked.subjects.toSorted(),
          receiver,
        },
        ...{ ...TWO_KEEPERS, signers: "two", beneficiaries: [receiver] },
      };
    }
  }
}
