/** What a job was made of, as pages and shells compare it. Pure. */
import { createHash } from "node:crypto";
import { runsOneScript } from "@resontech/contracts/changed-files";
import type { Strategy } from "@resontech/contracts/distributed-spec";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import type { AcceptedInput } from "../../kernel/accepted-task.ts";
import type { StoredTask } from "../../kernel/stored-tasks.ts";
import { askBodyOf } from "../../submission/decisions/member-asks.ts";

/** Kinds of inputs that say what a job does; the others are what it does that to. */
const CODE: readonly string[] = ["script", "config", "requirements"];

/** @param pool that the job names, its id where it is gone; null: none */
export function parametersReply(
  task: StoredTask,
  projectId: string,
  pool: string | null,
): JobParametersReply {
  const { selection, inputs } = task;
  // Of a kind that runs one script, and of one that runs it as several ranks.
  const {
    arguments: given = [],
    environment = {},
    ranks = null,
    strategy = null,
  } = (task.spec ?? {}) as {
    arguments?: string[];
    environment?: Record<string, string>;
    ranks?: number;
    strategy?: Strategy;
  };
  const asked = askBodyOf(task.spec);
  const [script] = runsOneScript(task.kind) ? inputs.filter(({ kind }) => kind === "script") : [];
  return {
    ...{ name: task.name, kind: task.kind, projectId, script: script?.key ?? null },
    ...{ arguments: given, environment, onlyMineWorkers: task.onlyMine },
    gpuModels: selection.kind === "auto" ? selection.gpuModels : null,
    workerIds: selection.kind === "pinned" ? selection.workerIds : null,
    maxPricePerGpuHourCents: selection.kind === "auto" ? selection.maxPriceCents : null,
    workersPerMember: asked.workersPerMember ?? 1,
    ...{ ranks, strategy },
    ...{ cpusPerMember: asked.cpusPerMember ?? null },
    ...{ hostMemoryMbPerMember: asked.hostMemoryMbPerMember ?? null },
    estimatedMemoryMb: task.estimatedMemoryMb,
    timeLimitMinutes: task.timeLimitMs === null ? null : Math.round(task.timeLimitMs / 60_000),
    ...{ class: task.jobClass ?? null, preemptible: task.isPreemptible ?? null, pool },
    images: task.images.map(({ profile, reference }) => ({ profile, reference })),
    ...{ rounds: task.numRounds, minSites: task.minClients, codeDigest: codeDigest(inputs) },
    inputs: inputs.map(({ kind, key, versionId, sizeBytes, target, etag }) => ({
      ...{ kind, key, versionId, sizeBytes, path: target, etag },
    })),
  };
}

/** Whatever folder the files lie in, and in whatever order they are listed. */
function codeDigest(inputs: readonly AcceptedInput[]): string {
  const lines = inputs
    .filter(({ kind }) => CODE.includes(kind))
    .map(({ kind, target, etag, sizeBytes }) => JSON.stringify([kind, target, etag, sizeBytes]))
    .sort();
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
