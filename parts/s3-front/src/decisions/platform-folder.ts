/**
 * Folders that the platform writes: `logs/` and `ckpt/` at the bucket's top, `model_out/` and `files_out/` below a job's output root. Whose a folder of
 * the second kind is, the coordinator says.
 */
export type PlatformFolder =
  /** Nobody but the platform writes there, whether or not there is such a job. */
  | { kind: "own"; folder: string }
  /**
   * The output roots that the key may lie below. Jobs have theirs below `jobs/`: there nobody else writes, whether or not there is such a job yet. What
   * lay in wait for one would be taken for its model.
   */
  | { kind: "perhaps"; folders: string[]; isReserved: boolean };

const AT_TOP = ["logs", "ckpt"];
const OF_OUTPUTS = ["model_out", "files_out"];

export function platformFolderOf(key: string): PlatformFolder | null {
  const segments = key.split("/");
  const [top = "", second = ""] = segments;
  if (segments.length > 1 && AT_TOP.includes(top))
    return { kind: "own", folder: `${top}/${second || "-"}` };
  const folders = segments
    .map((segment, at) =>
      at > 0 && at < segments.length - 1 && OF_OUTPUTS.includes(segment)
        ? segments.slice(0, at).join("/")
        : "",
    )
    .filter((folder) => folder !== "");
  return folders.length === 0 ? null : { kind: "perhaps", folders, isReserved: top === "jobs" };
}
