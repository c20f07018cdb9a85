/**
 * Every reason for which a job or one of its members ends or stops. What each means for the job (terminal state, retry class,
 * message, hint) is the coordinator's reason table, exhaustive over these.
 */

/** Reasons that an agent may send in a `failed` report. */
export const AGENT_REASONS = [
  // the user's code and data
  "user_exception",
  "payload_exited",
  "config_invalid",
  "shard_invalid",
  "disk_limit",
  "out_of_memory",
  "output_missing",
  "updates_rejected",
  "model_not_finite",
  "shared_memory_full",
  "no_progress",
  "bucket_full",
  // the platform
  "image_pull_failed",
  "staging_failed",
  "container_failed",
  "federation_failed",
  "device_fault",
  "upload_failed",
  "node_disk_full",
  "lease_lost",
  "agent_fault",
] as const;
export type AgentReason = (typeof AGENT_REASONS)[number];

/** Reasons that only the coordinator gives; `stopReason` of a desired member may be any of both lists. */
export const KERNEL_REASONS = [
  "user_cancelled",
  "operator_cancelled",
  "replaced",
  "dependency_failed",
  "idle",
  "node_lost",
  "node_removed",
  "quorum_lost",
  "attempt_ended",
  "generation_changed",
  "provisioning_timeout",
  "staging_timeout",
  "preempted",
  "expired",
  "binds_failed",
  "quota_exceeded",
  "policy_denied",
  "release_timeout",
  "devices_not_free",
] as const;
export type KernelReason = (typeof KERNEL_REASONS)[number];

export type JobReason = AgentReason | KernelReason;

export function isAgentReason(code: string): code is AgentReason {
  return (AGENT_REASONS as readonly string[]).includes(code);
}
