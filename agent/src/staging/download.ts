import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { MemberFailure } from "../members/member-failure.ts";

const STALL_MS = 60_000;
const ATTEMPTS = 4;

/** Streams one object to a file and checks size and, where the ETag is an MD5, content. */
export async function download(
  url: string,
  input: StagedInput,
  file: string,
  ca: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await downloadOnce(url, input, file, ca, onBytes, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MemberFailure || attempt === ATTEMPTS) {
        throw error instanceof MemberFailure
          ? error
          : new MemberFailure(
              "staging_failed",
              `${input.target} could not be fetched: ${error instanceof Error ? error.message : String(error)}`,
            );
      }
    }
  }
}

async function downloadOnce(
  url: string,
  input: StagedInput,
  file: string,
  ca: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await get(url, ca, signal);
  if (response.statusCode !== 200) {
    response.resume();
    throw new Error(`the object store answered ${response.statusCode ?? 0}`);
  }
  const md5 = createHash("md5");
  let received = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > input.sizeBytes)
        done(
          new MemberFailure("staging_failed", `${input.target} is longer than the ${input.sizeBytes} bytes that were accepted`),
        );
      else {
        md5.update(chunk);
        onBytes(chunk.length);
        done(null, chunk);
      }
    },
  });
  await pipeline(response, meter, createWriteStream(file, { mode: 0o644 }), { signal });
  if (received !== input.sizeBytes) throw new Error(`it ended after ${received} of ${input.sizeBytes} bytes`);
  const etag = input.etag.replaceAll('"', "");
  // An ETag with a dash belongs to a multipart object and is no MD5 of the whole.
  if (/^[0-9a-f]{32}$/.test(etag) && md5.digest("hex") !== etag) throw new Error("its content is not what was accepted");
}

async function get(url: string, ca: string, signal: AbortSignal): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const asked = request(url, { ca, timeout: STALL_MS, signal }, resolve);
    asked.once("timeout", () => asked.destroy(new Error(`no byte for ${STALL_MS / 1000} s`)));
    asked.once("error", reject);
    asked.end();
  });
}
