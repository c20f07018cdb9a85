/** Codes that an agent acts on: register again, stop that work, send again, wait, upgrade. */
export type AgentRefusalCode =
  | "invalid_request"
  | "protocol_unsupported"
  | "unknown_node"
  | "stale_epoch"
  | "stale_fence"
  | "out_of_order"
  | "not_allowed"
  | "not_found"
  | "audit_unavailable"
  | "database_unavailable"
  | "storage_unavailable"
  | "too_many_requests"
  | "internal_error";

/** A request of an agent that is not granted; the reply carries code and message. */
export class AgentRefusal extends Error {
  override readonly name = "AgentRefusal";
  readonly code: AgentRefusalCode;

  constructor(code: AgentRefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
