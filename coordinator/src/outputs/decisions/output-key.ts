import type { Fence } from "@resontech/contracts/fence";
import { formatFence } from "@resontech/contracts/fence";

const MAX_KEY_CHARACTERS = 512;
const MAX_DEPTH = 8;
/** Printable characters that need no escaping in any file system, URL path or log line. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._@=+-]*$/;
const OUTPUT_FOLDERS = ["model_out", "files_out"];

export type OutputOwner = {
  role: "server" | "client";
  memberId: string;
  fence: Fence;
  jobId: string;
  outputRoot: string;
};

/**
 * The key in the user's bucket that a member may write, or null. Only the server writes the job's outputs; logs lie under the
 * member and the fence that they come from, so that no two writers ever share one.
 */
export function outputKey(owner: OutputOwner, key: string, isLog: boolean): string | null {
  const segments = key.split("/");
  if (key.length > MAX_KEY_CHARACTERS || segments.length < 2 || segments.length > MAX_DEPTH) return null;
  if (!segments.every((segment) => SEGMENT.test(segment))) return null;
  if (isLog) {
    const own = `${owner.memberId}-${formatFence(owner.fence)}`;
    return segments[0] === own ? `logs/${owner.jobId}/${key}` : null;
  }
  return owner.role === "server" && OUTPUT_FOLDERS.includes(segments[0]!) ? `${owner.outputRoot}/${key}` : null;
}
