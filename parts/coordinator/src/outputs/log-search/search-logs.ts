/** One search through the stored logs of a job: reads chunks ahead of the one that is searched. */
import { chunksOf, logFolder, MAX_CHUNKS, memberOfChunk } from "../decisions/log-chunks.ts";
import { type LogStore, readChunk } from "../read-chunk.ts";
import { type FoundLine, LineSearch, type LineQuery } from "../decisions/line-search.ts";

export type LogSearchTask = {
  job: string;
  bucket: string;
  /** Whose logs, in the order in which matches are numbered. */
  members: string[];
  query: LineQuery;
  /** The first matches behind the skipped ones are the answer. */
  isFirst: boolean;
  /** What is found by then is the answer. */
  withinMs: number;
};
export type LogSearchResult = {
  found: FoundLine[];
  total: number;
  isComplete: boolean;
  searchedBytes: number;
};

/** Chunks of 1 MiB that are on their way or wait. */
const AHEAD = 6;

/** @throws S3UnavailableError; the signal's reason */
export async function searchLogs(
  store: LogStore,
  { job, bucket, members, query, isFirst, withinMs }: LogSearchTask,
  signal: AbortSignal,
): Promise<LogSearchResult> {
  const until = performance.now() + withinMs;
  const stored = Map.groupBy(await store.list(bucket, logFolder(job), MAX_CHUNKS), ({ key }) =>
    memberOfChunk(key),
  );
  const chunks = members.flatMap((member) =>
    chunksOf(stored.get(member) ?? []).map(({ version, offset }) => ({ member, version, offset })),
  );
  const read = ({ member, ...chunk }: (typeof chunks)[number]): Promise<Buffer> => {
    const log = { bucket, job, member };
    const bytes = readChunk(store, log, chunk, 0, chunk.version.sizeBytes - 1);
    // Told when its turn comes, or never where the search has ended.
    bytes.catch(() => undefined);
    return bytes;
  };
  const search = new LineSearch(query);
  const ahead = chunks.slice(0, AHEAD).map(read);
  let searchedBytes = 0;
  let isComplete = true;
  for (const [at, { member, offset }] of chunks.entries()) {
    signal.throwIfAborted();
    if (performance.now() > until || (isFirst && search.total > query.skip)) {
      isComplete = false;
      break;
    }
    if (offset === 0) search.begin(member);
    const bytes = await ahead.shift()!;
    const next = chunks[at + AHEAD];
    if (next !== undefined) ahead.push(read(next));
    search.take(bytes);
    searchedBytes += bytes.length;
  }
  // Where more follows, the last line has not ended.
  if (isComplete) search.end();
  return { found: search.found, total: search.total, isComplete, searchedBytes };
}
