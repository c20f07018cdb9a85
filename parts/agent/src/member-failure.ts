import type { AgentReason } from "@resontech/contracts/job-reasons";

/** A member can't go on; `reason` is what the coordinator's reason table judges. */
export class MemberFailure extends Error {
  readonly reason: AgentReason;
  readonly detail: string | undefined;

  constructor(reason: AgentReason, message: string, detail?: string) {
    super(message);
    this.reason = reason;
    this.detail = detail;
  }
}
