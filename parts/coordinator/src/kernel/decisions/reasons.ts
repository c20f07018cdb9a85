import type { JobReason } from "@resontech/contracts/job-reasons";

/** Which budget a fault spends; `never`: running it again would end the same way, or nobody wants it. */
export type RetryClass = "never" | "infrastructure" | "lease_lost" | "out_of_memory" | "free";

/** What happened, and what to do. */
export type ReasonWords = { message: string; hint: string };
/** A workload's own words, where those that all kinds share say too little. */
export type OwnReasonWords = Readonly<Partial<Record<JobReason, ReasonWords>>>;

export type ReasonEntry = ReasonWords & {
  /** How the job ends when the reason ends it: at once for `never`, else once the budget is spent. */
  ends: "FAILED" | "CANCELLED" | "EXPIRED" | "REJECTED";
  retry: RetryClass;
};

const user = (message: string, hint: string): ReasonEntry => ({
  ends: "FAILED",
  retry: "never",
  message,
  hint,
});
const platform = (message: string, hint: string): ReasonEntry => ({
  ends: "FAILED",
  retry: "infrastructure",
  message,
  hint,
});
const OPERATOR =
  "Nothing in the job caused this. Submit it again; if it comes back, give the operator the job's id.";

/** reason → (terminal state, retry class, message, hint). */
export const REASONS = {
  user_exception: user(
    "The training script raised an exception.",
    "Read the traceback's last lines in `detail`, or all that the site said in files_out/logs/<site>.log, and correct the script.",
  ),
  payload_exited: user(
    "A process of the job ended before the job did.",
    "The message names its code or signal, `detail` what it said last; files_out/logs/<site>.log has all it said.",
  ),
  config_invalid: user(
    "The job's configuration was refused.",
    "Read in `detail` what was wrong with it, and correct it.",
  ),
  shard_invalid: user(
    "A shard could not be unpacked.",
    "Make the zip again: no absolute paths, no `..`, no links, not encrypted.",
  ),
  disk_limit: user(
    "A member filled its file system.",
    "Write less under /app/out, /tmp and the data root, or split the data into more shards; files_out/logs/<site>.log says what was written.",
  ),
  out_of_memory: {
    ends: "FAILED",
    retry: "out_of_memory",
    message: "A member used more memory than its worker has.",
    hint: "Use a smaller batch, or state estimatedMemoryMb so that a larger worker is chosen.",
  },
  output_missing: user(
    "The job ended without writing a model.",
    "The server's persistor must save the global model to $RESONTECH_OUT_DIR/$RESONTECH_OUT_FILENAME.",
  ),
  bucket_full: user(
    "The bucket has no room for what the job leaves.",
    "Delete objects and abort old uploads, or ask the operator for a larger quota; then submit again.",
  ),
  updates_rejected: user(
    "A round counted fewer updates than the job needs.",
    "Read why in files_out/metrics.jsonl (`updates`, by site); files_out/logs/<site>.log has what each site said.",
  ),
  model_not_finite: user(
    "A round left a model with weights that are no numbers, and the project refuses those.",
    "The job's warnings name the sites whose updates held NaN or infinite values: look there for a learning rate that is too high, or for data with gaps.",
  ),
  shared_memory_full: user(
    "The shared memory (/dev/shm) of a member was full.",
    "Use fewer DataLoader workers or smaller batches, or torch.multiprocessing.set_sharing_strategy('file_system').",
  ),
  no_progress: {
    ends: "FAILED",
    retry: "free",
    message: "A member got nothing done and was ended.",
    hint: "The message says what hung; files_out/logs/<site>.log has what it printed.",
  },
  image_pull_failed: platform("The job's image could not be fetched.", OPERATOR),
  staging_failed: platform("An input could not be fetched.", OPERATOR),
  container_failed: platform("The container engine could not run a member.", OPERATOR),
  federation_failed: platform("Server and clients lost one another.", OPERATOR),
  device_fault: platform("An accelerator failed.", OPERATOR),
  node_disk_full: platform(
    "The disk of a node was full.",
    "The job goes on where there is room. The operator must make some: `appliance status` says where.",
  ),
  upload_failed: platform("An output could not be stored.", OPERATOR),
  agent_fault: platform("A node's agent lost track of a member.", OPERATOR),
  provisioning_timeout: platform("A node did not start its member in time.", OPERATOR),
  staging_timeout: platform("Inputs or image made no progress.", OPERATOR),
  quorum_lost: platform("Fewer clients are left than the job needs.", OPERATOR),
  lease_lost: {
    ends: "FAILED",
    retry: "lease_lost",
    message: "A node lost its lease.",
    hint: OPERATOR,
  },
  node_lost: {
    ends: "FAILED",
    retry: "lease_lost",
    message: "A node stopped answering.",
    hint: OPERATOR,
  },
  node_removed: {
    ends: "FAILED",
    retry: "free",
    message: "The operator took a node away.",
    hint: "Nothing has to be done: the job goes on elsewhere.",
  },
  generation_changed: {
    ends: "FAILED",
    retry: "free",
    message: "The appliance was restored from a backup while the job ran.",
    hint: OPERATOR,
  },
  preempted: {
    ends: "FAILED",
    retry: "free",
    message: "The job made way for one of a higher class.",
    hint: "It is queued again and goes on from its last commit.",
  },
  attempt_ended: {
    ends: "FAILED",
    retry: "free",
    message: "The attempt is over.",
    hint: "Nothing has to be done.",
  },
  release_timeout: platform(
    "A member's release was not proven in time; its worker is quarantined.",
    OPERATOR,
  ),
  devices_not_free: platform(
    "A worker was not free after its member ended; it is quarantined.",
    OPERATOR,
  ),
  user_cancelled: {
    ends: "CANCELLED",
    retry: "never",
    message: "The job was cancelled.",
    hint: "Submit it again to run it.",
  },
  operator_cancelled: {
    ends: "CANCELLED",
    retry: "never",
    message: "The operator stopped the job.",
    hint: "Ask the operator why; then submit it again.",
  },
  replaced: {
    ends: "CANCELLED",
    retry: "never",
    message: "A newer deployment took the place of this one.",
    hint: "Nothing has to be done: calls of its address go to the newer one.",
  },
  dependency_failed: {
    ends: "CANCELLED",
    retry: "never",
    message: "A job that was to succeed first did not.",
    hint: "See why that job ended. Submit it again, then this one after it.",
  },
  idle: {
    ends: "CANCELLED",
    retry: "never",
    message: "The job is interactive and used nothing for longer than its project allows.",
    hint: "Submit it again when somebody sits in front of it, or without `interactive`.",
  },
  expired: {
    ends: "EXPIRED",
    retry: "never",
    message: "The job ran out of the time that it had stated.",
    hint: "State a longer time, or none.",
  },
  binds_failed: {
    ends: "FAILED",
    retry: "free",
    message: "Workers were chosen for the job five times and could not be taken.",
    hint: "The operator must look at the nodes; the job waits until they do.",
  },
  quota_exceeded: {
    ends: "REJECTED",
    retry: "never",
    message: "The project's quota does not allow the job.",
    hint: "Ask a project lead for more, or wait for running jobs to end.",
  },
  policy_denied: {
    ends: "REJECTED",
    retry: "never",
    message: "A policy does not allow the job.",
    hint: "Ask the security officer which rule applies.",
  },
} as const satisfies Record<JobReason, ReasonEntry>;

const SITE_LOG = "files_out/logs/<site>.log";

/** What to do, with the file to look at: the site's that failed, or the server's own. @param member a site, `server`, or null when nobody is blamed */
export function hintOf(reason: JobReason, member: string | null, own: OwnReasonWords = {}): string {
  const { hint } = reasonWords(reason, own);
  if (member === null) return hint;
  return hint.replaceAll(
    SITE_LOG,
    member === "server" ? "files_out/training_log.txt" : SITE_LOG.replace("<site>", member),
  );
}

/** What is said of the reason. @param own the words of the job's workload */
export function reasonWords(reason: JobReason, own: OwnReasonWords = {}): ReasonWords {
  return own[reason] ?? reasonEntry(reason);
}

export function reasonEntry(reason: JobReason): ReasonEntry {
  return REASONS[reason];
}
