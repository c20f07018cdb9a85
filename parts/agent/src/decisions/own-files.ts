/** Which files that the server's own code wrote come back, and as what. Pure. */

export type FoundFile = { /** Relative to `/app/out`. */ path: string; sizeBytes: number };
export type ChosenFiles = {
  files: { path: string; key: string }[];
  /** Why the others stay, one line; null when none does. */
  left: string | null;
};

export const MAX_OWN_FILES = 200;
export const MAX_OWN_BYTES = 2 * 1024 ** 3;
/** As the coordinator takes keys: what needs no escaping anywhere. */
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._@=+-]*$/;
const MAX_DEPTH = 7;
const MAX_KEY_CHARACTERS = 512;
/** The platform's own, below `files_out/`. */
const RESERVED = ["training_log.txt", "metrics.jsonl", "logs", "sites"];

/** @param model what is stored as the model already, relative to `/app/out`; null where that lies elsewhere */
export function chooseOwnFiles(
  found: readonly FoundFile[],
  folder: string,
  model: string | null,
): ChosenFiles {
  const files: ChosenFiles["files"] = [];
  const left = { name: 0, room: 0 };
  let bytes = 0;
  for (const { path, sizeBytes } of found.toSorted(
    (a, b) => a.sizeBytes - b.sizeBytes || (a.path < b.path ? -1 : 1),
  )) {
    if (path === model) continue;
    const key = `${folder}/${path}`;
    const segments = path.split("/");
    const isPlain =
      segments.length <= MAX_DEPTH &&
      key.length <= MAX_KEY_CHARACTERS &&
      segments.every((part) => SEGMENT.test(part));
    if (!isPlain || RESERVED.includes(segments[0]!)) left.name += 1;
    else if (files.length >= MAX_OWN_FILES || bytes + sizeBytes > MAX_OWN_BYTES) left.room += 1;
    else {
      bytes += sizeBytes;
      files.push({ path, key });
    }
  }
  return { files, left: wordsOf(left) };
}

function wordsOf({ name, room }: { name: number; room: number }): string | null {
  const parts = [
    ...(room === 0 ? [] : [`${room} beyond ${MAX_OWN_FILES} files or ${MAX_OWN_BYTES} bytes`]),
    ...(name === 0
      ? []
      : [`${name} whose names are the platform's or not made of letters, digits and ._@=+-`]),
  ];
  return parts.length === 0 ? null : `files of /app/out did not come back: ${parts.join(", ")}`;
}
