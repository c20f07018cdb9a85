/** Uploads by multiparts that the coordinator creates and completes; the agent holds URLs of single parts alone. */
import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { request } from "node:https";
import { pipeline } from "node:stream/promises";
import type { Fence } from "@resontech/contracts/fence";
import type { CoordinatorClient } from "../bus/coordinator-client.ts";

const PARALLEL = 4;
const ATTEMPTS = 5;
const STALL_MS = 60_000;

export type Output = { file: string; key: string; log?: boolean };

export class Uploader {
  readonly #coordinator: CoordinatorClient;
  readonly #ca: string;

  constructor(coordinator: CoordinatorClient, ca: string) {
    this.#coordinator = coordinator;
    this.#ca = ca;
  }

  /** Uploads one file as it is now, in constant memory. */
  async upload(member: { member: string; fence: Fence }, output: Output, signal: AbortSignal): Promise<void> {
    const sizeBytes = statSync(output.file).size;
    const sha256 = await hashFile(output.file, sizeBytes);
    const { upload, partSizeBytes, urls } = await this.#coordinator.outputOpen({
      ...member,
      key: output.key,
      sizeBytes,
      sha256,
      ...(output.log === true ? { log: true } : {}),
    });
    const etags: string[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < urls.length) {
        const index = next;
        next += 1;
        const from = index * partSizeBytes;
        etags[index] = await this.#putPart(
          urls[index] ?? "",
          output.file,
          from,
          Math.min(partSizeBytes, sizeBytes - from),
          signal,
        );
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, urls.length) }, lane));
    await this.#coordinator.outputComplete(member, upload, etags);
  }

  async #putPart(url: string, file: string, from: number, length: number, signal: AbortSignal): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await putOnce(url, file, from, length, this.#ca, signal);
      } catch (error) {
        if (signal.aborted || attempt === ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
      }
    }
  }
}

async function putOnce(
  url: string,
  file: string,
  from: number,
  length: number,
  ca: string,
  signal: AbortSignal,
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: "PUT", ca, timeout: STALL_MS, signal, headers: { "content-length": length } },
      (response) => {
        response.resume();
        response.once("end", () => {
          const etag = response.headers.etag?.replaceAll('"', "");
          if (response.statusCode === 200 && etag !== undefined) resolve(etag);
          else reject(new Error(`the object store answered ${response.statusCode ?? 0} to a part`));
        });
      },
    );
    asked.once("timeout", () => asked.destroy(new Error(`no progress for ${STALL_MS / 1000} s`)));
    asked.once("error", reject);
    if (length === 0) asked.end();
    else pipeline(createReadStream(file, { start: from, end: from + length - 1 }), asked).catch(reject);
  });
}

/** Of the first `sizeBytes`: a log grows while it is read. */
async function hashFile(file: string, sizeBytes: number): Promise<string> {
  const hash = createHash("sha256");
  if (sizeBytes > 0) await pipeline(createReadStream(file, { end: sizeBytes - 1 }), hash);
  return hash.digest("hex");
}
