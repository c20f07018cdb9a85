import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, rmSync, statSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { MemberFailure } from "../members/member-failure.ts";
import { transfer } from "../object-transfer.ts";

const TRIES = 6;
const FIRST_WAIT_MS = 250;

export type Source = {
  /** The URL that is good now; asked again when the store says that one is outdated. */
  url: (isOutdated: boolean) => Promise<string>;
  ca: string;
};

/**
 * Streams one object to a file, going on where a broken connection left it, and checks its size and, where a digest is known (the ETag may
 * be an MD5), its content.
 * @throws MemberFailure `staging_failed`, or the signal's reason
 */
export async function download(
  source: Source,
  input: StagedInput,
  file: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let isOutdated = false;
  let why = "";
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    signal.throwIfAborted();
    const url = await source.url(isOutdated);
    try {
      const outcome = await continueDownload(url, source.ca, input, file, onBytes, signal);
      if (outcome === "whole") return await checkContent(input, file, signal);
      isOutdated = outcome === "outdated";
      why = isOutdated ? "its URL has expired" : "the object store gave no object";
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemberFailure || isFull(error)) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
    await sleep(FIRST_WAIT_MS * 2 ** attempt, undefined, { signal });
  }
  throw new MemberFailure("staging_failed", `${input.target} could not be fetched: ${why}`);
}

async function continueDownload(
  url: string,
  ca: string,
  input: StagedInput,
  file: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<"whole" | "outdated" | "refused"> {
  const have = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (have === input.sizeBytes && have > 0) return "whole";
  // The URL names one version of the object: what follows belongs to what is there.
  const headers = have === 0 ? {} : { range: `bytes=${have}-` };
  const response = await transfer(url, { headers, ca, signal });
  const status = response.statusCode ?? 0;
  // A store that ignores ranges sends the whole object: it is taken from the beginning.
  const isContinued = have > 0 && status === 206;
  if (status !== 200 && !isContinued) {
    response.resume();
    return status === 403 ? "outdated" : "refused";
  }
  let received = isContinued ? have : 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > input.sizeBytes) {
        done(
          new MemberFailure("staging_failed", `${input.target} is longer than the ${input.sizeBytes} bytes that were accepted`),
        );
        return;
      }
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  await pipeline(response, meter, createWriteStream(file, { flags: isContinued ? "a" : "w", mode: 0o644 }), { signal });
  if (received !== input.sizeBytes) throw new Error(`it ended after ${received} of ${input.sizeBytes} bytes`);
  return "whole";
}

/** An ETag with a dash belongs to a multipart object and is no MD5 of the whole. */
async function checkContent(input: StagedInput, file: string, signal: AbortSignal): Promise<void> {
  const etag = input.etag.replaceAll('"', "");
  const digest = input.sha256 ?? (/^[0-9a-f]{32}$/.test(etag) ? etag : null);
  if (digest === null) return;
  const hash = createHash(input.sha256 === undefined ? "md5" : "sha256");
  await pipeline(createReadStream(file), hash, { signal });
  if (hash.digest("hex") === digest) return;
  rmSync(file);
  throw new MemberFailure("staging_failed", `the content of ${input.target} is not what was accepted`);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOSPC";
}
