import type { Fence } from "@resontech/contracts/fence";
import { formatFence } from "@resontech/contracts/fence";

const MAX_KEY_CHARACTERS = 512;
const MAX_DEPTH = 8;
/** Printable characters that need no escaping in any file system, URL path or log line. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._@=+-]*$/;
/** Parts alone: what the coordinator merges of them has another form, and nobody else makes it. */
const LOG_PART = /^[^/]+\/\d{1,12}$/;
const OUTPUT_FOLDERS = ["model_out", "files_out"];
const SITE_FILES = "files_out/sites/";

export type OutputOwner = {
  /** The job's outputs are what it leaves. */
  isLead: boolean;
  /** What people call it: its site, else its role. */
  name: string;
  /** The project lets files of its sites out. */
  returnsFiles: boolean;
  memberId: string;
  fence: Fence;
  jobId: string;
  attemptId: string;
  outputRoot: string;
};

/** What the bytes are for: the user's outputs, logs, or a round that a later attempt goes on from. */
export type OutputArea = "output" | "log" | "checkpoint";

/**
 * The key in the user's bucket that a member may write, or null. Only the lead writes the job's outputs and checkpoints, but for each member's
 * own `files_out/logs/<name>.log`; logs and checkpoints lie under the member and the fence that they come from, so that no two writers ever share one.
 */
export function outputKey(owner: OutputOwner, key: string, area: OutputArea): string | null {
  const segments = key.split("/");
  if (key.length > MAX_KEY_CHARACTERS || segments.length < 2 || segments.length > MAX_DEPTH)
    return null;
  if (!segments.every((segment) => SEGMENT.test(segment))) return null;
  const isOwn = segments[0] === `${owner.memberId}-${formatFence(owner.fence)}`;
  if (area === "log") return isOwn && LOG_PART.test(key) ? `logs/${owner.jobId}/${key}` : null;
  if (area === "output" && isMembersOwn(owner, key)) return `${owner.outputRoot}/${key}`;
  if (!owner.isLead) return null;
  if (area === "checkpoint") return isOwn ? `ckpt/${owner.jobId}/${owner.attemptId}/${key}` : null;
  if (key.startsWith("files_out/logs/") || key.startsWith(SITE_FILES)) return null;
  return OUTPUT_FOLDERS.includes(segments[0]!) ? `${owner.outputRoot}/${key}` : null;
}

/** Its log, and its files where they may leave it. */
function isMembersOwn({ isLead, name, returnsFiles }: OutputOwner, key: string): boolean {
  return (
    key === `files_out/logs/${name}.log` ||
    (!isLead && returnsFiles && key.startsWith(`${SITE_FILES}${name}/`))
  );
}

/** Whether a key of the bucket holds a site's own file: to store it is an export. */
export function isSiteFile(outputRoot: string, key: string): boolean {
  return key.startsWith(`${outputRoot}/${SITE_FILES}`);
}
