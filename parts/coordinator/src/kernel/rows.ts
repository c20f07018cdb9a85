/** Rows as the tables of db/migrations hold them; columns keep their names. */
import type { JobReason } from "@resontech/contracts/job-reasons";
import type { JobState, MemberState } from "@resontech/contracts/job-states";
import type { NodeState } from "@resontech/contracts/node-states";

export type JobRow = {
  id: string;
  sequence: number;
  project_id: string;
  user_id: string;
  name: string;
  slug: string;
  bucket: string;
  output_root: string;
  /** Of the workloads that this release has, or one that it does not know. */
  kind: string;
  /** JSON of the workload's own. */
  spec: string | null;
  state: JobState;
  version: number;
  desired: "run" | "stop";
  /** The person who cancelled it. */
  stopped_by: string | null;
  reason: JobReason | null;
  message: string | null;
  detail: string | null;
  blamed_member: string | null;
  state_since: number;
  deadline_at: number | null;
  expires_at: number | null;
  selection: string;
  only_mine: number;
  estimated_memory_mb: number | null;
  image: string;
  /** JSON of `MemberImage[]`; null in a job that an older program accepted. */
  images: string | null;
  num_rounds: number | null;
  first_round: number;
  min_clients: number;
  resumable: number;
  warnings: string;
  shard_count: number;
  shard_uncompressed_bytes: string;
  attempts_made: number;
  failed_binds: number;
  retries_infrastructure: number;
  retries_lease_lost: number;
  retries_out_of_memory: number;
  time_limit_ms: number | null;
  /** As it was asked for, perhaps of a newer release; null: its kind's. */
  job_class: string | null;
  /** As it was asked for; null: as others make way. */
  is_preemptible: number | null;
  /** Time in RUNNING before the present attempt. */
  ran_ms: number;
  server_memory_bytes: number | null;
  model_bytes: number;
  avoid_nodes: string;
  waiting_for: string | null;
  /** Id of the pool that it names; null: any that lets it in. */
  pool: string | null;
  /** Place in line, as `sequence`, of a job that was held for others; null: its sequence is its place. */
  line: number | null;
  /** Gangs that a running job wants beside those that it has, and that have no worker yet. */
  replicas_due: number;
  audit_op: string;
  audit_index: number;
  audit_leaf: string;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
};

export type AttemptRow = {
  id: string;
  job_id: string;
  number: number;
  server_name: string;
  server_port: number;
  ca_cert: string | null;
  ca_key: string | null;
  start_round: number;
  resumed_from: string | null;
  created_at: number;
  ended_at: number | null;
  end_reason: string | null;
  bridge_node: string | null;
  bridge_port: number | null;
  /** Others of its job live beside it. */
  is_replica: number;
};

export type MemberRow = {
  id: string;
  attempt_id: string;
  job_id: string;
  /** A name of the workload's. */
  role: string;
  is_lead: number;
  site: string | null;
  shard_index: number | null;
  node_id: string;
  worker_id: string | null;
  state: MemberState;
  version: number;
  desired: "run" | "stop";
  stop_reason: JobReason | null;
  generation: number;
  counter: number;
  last_seq: number;
  resources: string;
  container: string | null;
  is_staged: number;
  /** Bytes of its inputs that its node had kept; null where that was not told. */
  cached_bytes: number | null;
  is_ready: number;
  is_finished: number;
  has_outputs: number;
  progress_step: string | null;
  progress_done: number | null;
  progress_total: number | null;
  progress_at: number | null;
  reason: JobReason | null;
  message: string | null;
  detail: string | null;
  state_since: number;
  deadline_at: number | null;
  created_at: number;
  replaces: string | null;
  /** JSON of the `MemberImage` that it runs; null: its job's. */
  image: string | null;
  failed_site: string | null;
  /** How its container ended; null where nobody said so. */
  exit_code: number | null;
  /** JSON of the `DesiredMember` that its node heard first; null before that, and of members of releases that kept none. */
  told: string | null;
  /** Of one that may sleep: how often something was wished of it, and what last. */
  wish_order: number;
  wishes_sleep: number;
  standing: "well" | "stalled" | "asleep";
  /** Of the wish that `standing` follows. */
  standing_order: number;
};

export type NodeRow = {
  id: string;
  owner_id: string | null;
  state: NodeState;
  version: number;
  is_cordoned: number;
  cordon_reason: string | null;
  certificate_sha256: string;
  generation: number | null;
  counter: number | null;
  boot_id: string | null;
  agent_version: string | null;
  inventory: string | null;
  inventory_digest: string | null;
  desired_version: number;
  flaps: string;
  joined_at: number;
  registered_at: number | null;
  state_since: number;
  bridge_address: string | null;
  bridge_port_from: number | null;
  bridge_port_to: number | null;
  /** What the registration of {@link NodeRow.agent_protocol_at} agreed on. */
  agent_protocol: number | null;
  agent_protocol_at: number | null;
};

export type WorkerRow = {
  id: string;
  node_id: string;
  kind: "gpu" | "cpu";
  model: string;
  memory_bytes: number;
  vendor: "nvidia" | "amd" | "intel" | null;
  architecture: string | null;
  driver: string | null;
  is_healthy: number;
  is_present: number;
  is_quarantined: number;
  quarantine_reason: string | null;
};
