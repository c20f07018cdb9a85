/**
 * Between the agent (outside) and the runner (the Python of parts/agent/runners/ inside the job's container): files alone.
 *
 * Mounts, by path in the container:
 * - `/rt/init` (ro, static binary, PID 1), `/rt/lease/lease` (ro directory; text: boot-time deadline in ns, rewritten atomically)
 * - `/rt/runner/` (ro: parts/agent/runners), `/rt/job/spec.json` (ro: RunnerSpec), `/rt/job/kit/` (ro: PEM keys and certificates)
 * - `/rt/job/scripts/`, `/rt/job/configs/` (ro, server alone: the user's files byte for byte; NVFlare deploys them to the sites),
 *   `/app/model/<basename>` (ro, server, warm start), `/rt/job/resume/<basename>` (ro, server, the model that a resumed attempt goes on from)
 * - writable, all on the member's size-limited file system: `/app/payload` (= `/var/tmp/nvflare/data`), `/app/out`, `/tmp`,
 *   `/app/workspace` (NVFlare's), `/rt/events/` (`events.jsonl`: RunnerEvent, one JSON object a line, appended, never rewritten;
 *   in the server also RUNNER_OUTPUTS)
 *
 * All of `/rt/job` must be readable by the job's uid, keys included. The runner sets NVFlare's environment itself; from the agent it
 * needs only `PATH`. Its standard output is the member's log.
 *
 * A `failed` event is the last one of its runner. SIGTERM: the server aborts the NVFlare job, then both stop NVFlare (≤ 10 s) and
 * exit with EXIT.stopped, without a `failed` event.
 */
import type { Fence } from "./fence.ts";
import type { AgentReason } from "../job/job-reasons.ts";

/** Payload of `/rt/init`; the interpreter is the image's. */
export const RUNNER_COMMAND = ["python3", "-u", "/rt/runner/run.py"] as const;

export const EXIT = {
  /** The runner did all it had to: server after `finished`, client after the run ended. */
  done: 0,
  /** See the last `failed` event; none: the container's own fate (memory, kill). */
  failed: 1,
  stopped: 143,
} as const;

export type RunnerSpec = {
  formatVersion: 1;
  role: "server" | "client";
  job: string;
  attempt: string;
  fence: Fence;
  /** NVFlare project organisation; the `org` of each kit. */
  org: string;
  serverName: string;
  serverPort: number;
  /** All sites, in shard file-name order; `site` is this client's own, null in the server. */
  sites: string[];
  site: string | null;
  minClients: number;
  /** What the configuration says, for events of workflows that don't tell it themselves. */
  numRounds: number | null;
  taskRequestIntervalS: number;
  /** In the container; null when the job has no warm start. */
  modelFile: string | null;
  /** The user's configuration is run as it is but for these: first round, rounds left, model to start from (path in the container). */
  resume: { startRound: number; roundsLeft: number; modelFile: string } | null;
  /** A model with a weight that is no number fails the job, where its project says so. @default false */
  refusesNonFinite?: true;
};

/**
 * Below `/rt/job`: there once the server is to stop after its commit. It ends the run between two rounds, with the model of the last one on disk, and exits
 * with EXIT.stopped. A run that ends meanwhile ends as ever.
 */
export const COMMIT_ORDER = "commit-order.json";
export type CommitOrderFile = { formatVersion: 1 };

/** Path in the server's container of the model that a resumed attempt starts from. */
export const RESUME_MODEL = "/rt/job/resume/model.pt";

/** File names under `/rt/job/kit/`; `admin.*` only in the server's container. See federation-certificates.ts. */
export const KIT_FILES = {
  rootCert: "rootCA.pem",
  cert: "member.crt",
  key: "member.key",
  adminCert: "admin.crt",
  adminKey: "admin.key",
} as const;

/**
 * What the server's runner writes beside its events, to be uploaded under `files_out/`; both only grow, line by line, and are complete
 * before `finished` or `failed`. Clients write neither: their metrics reach the server through the federation's own channel, and what
 * a site logged in a round is in `metrics.jsonl` before that round's end.
 */
export const RUNNER_OUTPUTS = {
  trainingLog: "/rt/events/training_log.txt",
  metrics: "/rt/events/metrics.jsonl",
} as const;

/** One line of `metrics.jsonl` (HOSTED-API "Bucket layout"). `t` is RFC 3339 with milliseconds, UTC. @public Python writes it */
export type MetricsLine = { t: string } & (
  | { kind: "round-started"; round: number; numRounds: number | null }
  | {
      kind: "round-ended";
      round: number;
      sites: string[];
      modelSha256?: string;
      isFinite?: boolean;
      updates: RoundUpdates;
    }
  /** The site's `RT_METRIC {json}` line; `metric` is that JSON, with text in place of what JSON can't hold. `site` is `server` for the server's own. */
  | { kind: "metric"; site: string; metric: unknown }
);

/**
 * What became of a round's updates, for workflows that aggregate: sites, and for those whose update did not count why. `late` came during this
 * round for one that had ended.
 */
export type RoundUpdates =
  | "not counted"
  | {
      sent: string[];
      counted: string[];
      rejected: Record<string, string>;
      raised: Record<string, string>;
      late: string[];
      notHeard: string[];
    };

/** `ready` means, of the server: NVFlare listens; of a client: it runs and the server's port answers. @public Python writes it */
export type RunnerEvent = { t: string } & (
  | { kind: "ready" }
  /** Of a replica before it is ready: it gets on. Each one renews the time that it has; the amount says nothing. */
  | { kind: "progress"; step: "loading"; done: 0 }
  /** Of a replica, once it is ready: see MemberEvent. */
  | { kind: "standing"; standing: "well" | "stalled" | "asleep"; order: number }
  | { kind: "site-registered"; site: string }
  | { kind: "job-started"; nvflareJob: string }
  | { kind: "round-started"; round: number; numRounds: number | null }
  /**
   * `modelSha256` when the round wrote a model, and that file was closed and unchanged while it was read. `isFinite` where the round saved one that
   * could be looked at: false when a weight of it is NaN or infinite.
   */
  | {
      kind: "round-ended";
      round: number;
      sites: string[];
      modelSha256?: string;
      isFinite?: boolean;
    }
  /** Follows a round that wrote a model: where it lies in the container until a later round overwrites it. */
  | { kind: "round-model"; round: number; file: string; sha256: string }
  /** From the server alone, for all sites; `value` is the JSON of the `RT_METRIC` line as text. */
  | { kind: "metric"; site: string; value: string }
  /** What people must hear of though the job goes on; `site` is `server` for the server's own. `topic` names the kind: of each the newest is kept. */
  | { kind: "warning"; site: string; topic: string; text: string; round?: number }
  /** Server: the whole job succeeded, `modelFile` (path in the container) was written by the last round and stays unchanged;
   *  `modelName` is the name the persistor gave it. Client, without a model: the server ended the run. */
  | { kind: "finished"; modelFile?: string; modelName?: string; modelSha256?: string }
  /** `site`: whose failure it was, where the server tells of a site's. */
  | { kind: "failed"; reason: AgentReason; message: string; detail?: string; site?: string }
);
