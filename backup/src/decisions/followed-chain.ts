/** Files that follow a database on a target: how they are named, and which of them make its newest state. Pure. */

const NAME = /^follow\/([0-9]{13}-[0-9a-f]{16})\/(whole|changes)-([0-9]{10})-([0-9]{13})\.gz\.age$/;

export type FollowedFile = {
  path: string;
  /** One life of the follower: when it began, and what tells it from others of that moment. */
  stream: string;
  /** `whole`: all pages after the changes of that number. */
  kind: "whole" | "changes";
  /** Of the changes, from 1. */
  number: number;
  /** All that was committed before this moment is in it; milliseconds since the epoch. */
  atMs: number;
};
export type FollowedChain = {
  whole: FollowedFile;
  /** In order, without a gap. */
  changes: FollowedFile[];
  /** Number of the first changes that are missing, though later ones are there. */
  missing: number | null;
};

export function followedPath(file: Omit<FollowedFile, "path">): string {
  const number = String(file.number).padStart(10, "0");
  const at = String(file.atMs).padStart(13, "0");
  return `follow/${file.stream}/${file.kind}-${number}-${at}.gz.age`;
}

/** Reads what a file's name tells; null for what has no such name. */
export function followedFile(path: string): FollowedFile | null {
  const [, stream, kind, number, atMs] = NAME.exec(path) ?? [];
  if (stream === undefined || (kind !== "whole" && kind !== "changes")) return null;
  return { path, stream, kind, number: Number(number), atMs: Number(atMs) };
}

/**
 * The newest whole state of the newest stream that has one, and what came after it. A stream that has none was cut at its beginning.
 * @returns null where there is nothing to begin with
 */
export function followedChain(files: readonly FollowedFile[]): FollowedChain | null {
  const whole = files
    .filter(({ kind }) => kind === "whole")
    .toSorted(byAge)
    .at(-1);
  if (whole === undefined) return null;
  const later = files
    .filter(
      ({ stream, kind, number }) =>
        stream === whole.stream && kind === "changes" && number > whole.number,
    )
    .toSorted(byAge);
  const gap = later.findIndex(({ number }, at) => number !== whole.number + 1 + at);
  const changes = gap < 0 ? later : later.slice(0, gap);
  return { whole, changes, missing: gap < 0 ? null : whole.number + 1 + gap };
}

/** What no restore needs any more once a whole state is on the target. */
export function servedBefore(files: readonly FollowedFile[], whole: FollowedFile): FollowedFile[] {
  return files.filter(
    (file) =>
      file.path !== whole.path &&
      (file.stream !== whole.stream || file.kind === "whole" || file.number <= whole.number),
  );
}

function byAge(a: FollowedFile, b: FollowedFile): number {
  if (a.stream !== b.stream) return a.stream < b.stream ? -1 : 1;
  return a.number - b.number || a.atMs - b.atMs;
}
