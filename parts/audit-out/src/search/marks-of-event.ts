/** By what of its detail an entry is found: people whom it is about, its approval, deployments that were called. Pure. */
import type { AuditEvent } from "@resontech/contracts/audit-draft";

/** A person's or a deployment's id, by what it is to the entry. */
export type Mark = `concerns ${string}` | `deployment ${string}`;

/** Members of a detail that name one person. */
const ONE_PERSON = ["member", "user", "lead", "requester", "subject", "asker"] as const;

/** Everybody whom an entry is about, but for who acted: whose rights changed, who asked, who agreed. */
export function peopleOf({ type, object, detail = {} }: AuditEvent): string[] {
  const { approvers, claimed, change } = detail;
  const isHandover = type === "iam.project.change" && change === "handover";
  const typed = typeof claimed === "object" && claimed !== null ? claimed : {};
  return unique([
    ...(object.kind === "user" ? [object.id] : []),
    ...ONE_PERSON.map((name) => detail[name]),
    ...(isHandover ? [detail["from"], detail["to"]] : []),
    ...list(approvers),
    ...("requester" in typed ? [typed.requester] : []),
    ...("approvers" in typed ? list(typed.approvers) : []),
  ]);
}

/** Answers the id of an event's request; null where nobody had to agree. */
export function approvalOf({ object, detail = {} }: AuditEvent): string | null {
  if (object.kind === "approval") return object.id;
  const { approval } = detail;
  return typeof approval === "string" ? approval : null;
}

export function marksOf(event: AuditEvent): Mark[] {
  const called = list(event.detail?.["called"]).map((one) =>
    typeof one === "object" && one !== null && "deployment" in one ? one.deployment : undefined,
  );
  return [
    ...peopleOf(event).map((id): Mark => `concerns ${id}`),
    ...unique(called).map((id): Mark => `deployment ${id}`),
  ];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function unique(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((value) => typeof value === "string"))];
}
