import { posix } from "node:path";
import { JobFile } from "./job-file.ts";
import type { MemberFilesystem } from "./member-filesystem.ts";

const MOUNTS: readonly [string, Parameters<MemberFilesystem["path"]>[0]][] = [
  ["/rt/events/", "events"],
  ["/app/out/", "out"],
  ["/app/workspace/", "workspace"],
  ["/tmp/", "tmp"],
];

/** A file that the runner names by its path in the container; null when it is none that the job could have written. */
export function openInContainer(disk: MemberFilesystem, path: string): JobFile | null {
  const plain = posix.normalize(path);
  for (const [prefix, part] of MOUNTS)
    if (plain.startsWith(prefix)) return JobFile.open(disk.mountPoint, disk.path(part, plain.slice(prefix.length)));
  return null;
}
