import { PEOPLE } from "@resontech/audit/testing/step-up-people";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";

/** With an approval of its own. */
export const erase = (subject: string, request = "req-1", legalBasis = "gdpr-17") => ({
  ...({ verb: "erase", subject, request, legalBasis } as const),
  approval: PEOPLE.erasureProof({ subject, request, legalBasis }),
});

/** With the signature of an officer. */
export const setHold = (subject = "usr-1", hold = "case-7") => ({
  ...({ verb: "hold", subject, hold } as const),
  approval: PEOPLE.holdProof(subject, hold),
});

/** With the signatures of two people, as {@link disclosing}. */
export const liftHold = (subject = "usr-1", hold = "case-7") => ({
  ...({ verb: "lift", subject, hold } as const),
  approval: PEOPLE.liftProof(subject, hold),
});

/** @param log its origin, or whose shard that is written now */
export const disclosing = (
  log: AuditdFixture | string,
  subjects: string[] = ["usr-1"],
  receiver = "auditor-1",
) => {
  const origin = typeof log === "string" ? log : `box.audit.acme/${log.currentSlug}`;
  const asked = { origin, subjects, receiver };
  return { ...({ verb: "disclose" } as const), ...asked, approval: PEOPLE.disclosureProof(asked) };
};
