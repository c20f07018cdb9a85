/** What a server's container leaves behind for the user, and where each file goes below the job's output root. */
import { posix } from "node:path";
import { RUNNER_OUTPUTS } from "@resontech/contracts/runner";
import { JobFile } from "./job-file.ts";
import type { MemberFilesystem } from "./member-filesystem.ts";

/** Both only grow while the container runs. */
export const LOG_OUTPUTS = [
  { path: RUNNER_OUTPUTS.trainingLog, key: "files_out/training_log.txt" },
  { path: RUNNER_OUTPUTS.metrics, key: "files_out/metrics.jsonl" },
] as const;

const CHECKPOINT_KEY = "model_out/checkpoint.pt";
/** A name that is a key without escaping; any other is left out, the checkpoint holds the same bytes. */
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/;

const MOUNTS: readonly [string, Parameters<MemberFilesystem["path"]>[0]][] = [
  ["/rt/events/", "events"],
  ["/app/out/", "out"],
  ["/app/workspace/", "workspace"],
  ["/tmp/", "tmp"],
];

/** Keys of the global model: the checkpoint, and beside it the name that the persistor gave. */
export function modelKeys(persistorName: string): string[] {
  const name = posix.basename(persistorName);
  const key = `model_out/${name}`;
  return PLAIN_NAME.test(name) && key !== CHECKPOINT_KEY ? [CHECKPOINT_KEY, key] : [CHECKPOINT_KEY];
}

/** A file that the runner names by its path in the container; null when it is none that the job could have written. */
export function openInContainer(disk: MemberFilesystem, path: string): JobFile | null {
  const plain = posix.normalize(path);
  for (const [prefix, part] of MOUNTS)
    if (plain.startsWith(prefix)) return JobFile.open(disk.mountPoint, disk.path(part, plain.slice(prefix.length)));
  return null;
}
