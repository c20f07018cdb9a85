/**
 * Between the agent (outside) and the runner (the Python of agent/runners/ inside the job's container): files alone.
 *
 * Mounts, by path in the container:
 * - `/rt/init` (ro, static binary, PID 1), `/rt/lease/lease` (ro directory; text: boot-time deadline in ns, rewritten atomically)
 * - `/rt/runner/` (ro: agent/runners), `/rt/job/spec.json` (ro: RunnerSpec), `/rt/job/kit/` (ro: PEM keys and certificates)
 * - `/rt/job/scripts/`, `/rt/job/configs/` (ro: the user's files byte for byte), `/app/model/<basename>` (ro, server, warm start)
 * - writable, all on the member's size-limited file system: `/app/payload` (= `/var/tmp/nvflare/data`), `/app/out`, `/tmp`,
 *   `/app/workspace` (NVFlare's), `/rt/events/events.jsonl` (RunnerEvent, one JSON object a line, appended, never rewritten)
 *
 * Exit code 0: the runner did all it had to; anything else: see the last `failed` event, or the container's fate.
 */
import type { Fence } from "./fence.ts";

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
  numRounds: number | null;
  taskRequestIntervalS: number;
  /** In the container; null when the job has no warm start. */
  modelFile: string | null;
};

/** File names under `/rt/job/kit/`; `admin.*` only in the server's container. */
export const KIT_FILES = {
  rootCert: "rootCA.pem",
  cert: "member.crt",
  key: "member.key",
  adminCert: "admin.crt",
  adminKey: "admin.key",
} as const;

export type RunnerEvent = { t: string } & (
  | { kind: "ready" }
  | { kind: "site-registered"; site: string }
  | { kind: "job-started"; nvflareJob: string }
  | { kind: "round-started"; round: number; numRounds: number | null }
  | { kind: "round-ended"; round: number; sites: string[]; modelSha256?: string }
  | { kind: "metric"; site: string; value: string }
  | { kind: "finished"; modelFile: string; modelName: string }
  | { kind: "failed"; reason: string; message: string; detail?: string }
);
