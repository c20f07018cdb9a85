import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { readRange } from "../file-range.ts";
import { MemberFailure } from "../member-failure.ts";
import { transfer } from "../object-transfer.ts";

const TRIES = 6;
const FIRST_WAIT_MS = 250;

export type Source = {
  /** The URL that is good now, of one version of the object; asked again when the store says that one is outdated. */
  url: (isOutdated: boolean) => Promise<string>;
  ca: string;
  /** A file of ours with the same bytes, which are then asked of nobody. */
  kept?: string;
};

/** `target` is what people know it by. */
export type SourceObject = { target: string; sizeBytes: number };

/**
 * The bytes of an object from `start` up to but not at `end`, going on where a broken connection left them.
 * @throws MemberFailure `staging_failed` after six tries without a byte, or where it is longer; the signal's reason
 */
export async function* objectBytes(
  source: Source,
  { target, sizeBytes }: SourceObject,
  { start, end }: { start: number; end: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  if (source.kept !== undefined) return yield* keptBytes(source.kept, { start, end }, signal);
  let at = start;
  let isOutdated = false;
  let why = "";
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    if (at === end) return;
    signal.throwIfAborted();
    const url = await source.url(isOutdated);
    isOutdated = false;
    try {
      const isWhole = at === 0 && end === sizeBytes;
      const headers = isWhole ? {} : { range: `bytes=${at}-${end - 1}` };
      const response = await transfer(url, { headers, ca: source.ca, signal });
      const { statusCode } = response;
      if (statusCode !== 206 && statusCode !== 200) {
        response.resume();
        isOutdated = statusCode === 403;
        why = isOutdated ? "its URL has expired" : "the object store gave no object";
      } else {
        // A store that ignores ranges sends the whole object.
        let toSkip = statusCode === 200 ? at : 0;
        for await (const chunk of response as AsyncIterable<Buffer>) {
          const bytes = chunk.subarray(Math.min(toSkip, chunk.length));
          toSkip -= chunk.length - bytes.length;
          if (bytes.length === 0) continue;
          if (at + bytes.length > end && end === sizeBytes)
            throw new MemberFailure(
              "staging_failed",
              `${target} is longer than the ${sizeBytes} bytes that were accepted`,
            );
          yield bytes.subarray(0, end - at);
          at = Math.min(end, at + bytes.length);
          attempt = 1;
          if (at === end && end < sizeBytes) break;
        }
        if (at === end) return;
        why = `it ended after ${at} of ${sizeBytes} bytes`;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemberFailure) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
    await sleep(FIRST_WAIT_MS * 2 ** attempt, undefined, { signal });
  }
  throw new MemberFailure("staging_failed", `${target} could not be fetched: ${why}`);
}

async function* keptBytes(
  file: string,
  { start, end }: { start: number; end: number },
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  await using handle = await open(file, "r");
  for await (const chunk of readRange({ fd: handle.fd, start, length: end - start })) {
    signal.throwIfAborted();
    yield chunk;
  }
}
