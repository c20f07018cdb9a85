export type UnavailableReason =
  | "timeout"
  | "disconnected"
  | "backlog"
  | "draining"
  | "closed"
  | "refused"
  | "superseded"
  | "unwitnessed";

/** auditd did not make the event durable, so the effect must not happen; over HTTP it is 503 `audit_unavailable`. */
export class AuditUnavailable extends Error {
  override readonly name = "AuditUnavailable";
  readonly code = "audit_unavailable";
  readonly reason: UnavailableReason;

  constructor(reason: UnavailableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
