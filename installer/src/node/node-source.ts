/** Where a node gets its files from: the appliance's API, or a folder on a medium. What comes is bytes that the caller verifies. */
import { createReadStream } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { NODE_BLOBS, type NodeFileName } from "@resontech/contracts/node-files";

/** The signed statement of a release is the largest that is read into memory. */
const MAX_SMALL_BYTES = 16 * 1024 ** 2;
const SILENCE_MS = 30_000;
const TRIES = 5;
/** The appliance gives out to so many at once, and counts requests by the minute. */
const BUSY = new Set([429, 500, 502, 503, 504]);

/** A file of the release could not be had; what is there stays, and the same command goes on from there. */
export class SourceFailedError extends Error {
  readonly code = "source_failed";
  readonly hint = "see that the source is whole and reached, and run the same command again";
}

export type NodeSource = Disposable & {
  /** A small file by its name. @throws SourceFailedError */
  read(name: NodeFileName): Promise<Buffer>;
  /** The bytes of a file of the release. @throws SourceFailedError, also while it is read */
  blob(sha256: string): Promise<Readable>;
};

/** @param source address that ends in `/node/v1`, or a folder @param rootCertPem vouches for the address */
export function openSource(source: string, rootCertPem: string): NodeSource {
  if (!source.startsWith("https://")) return folderSource(source);
  const agent = new Agent({ ca: rootCertPem, keepAlive: true });
  const open = async (path: string): Promise<Readable> => {
    for (let tried = 1; ; tried++) {
      try {
        return await request(`${source}/${path}`, agent);
      } catch (error) {
        if (!(error instanceof AnsweredError) || !BUSY.has(error.status) || tried === TRIES)
          throw failed(`${source}/${path}`, error);
        await sleep(tried * 1_000);
      }
    }
  };
  return {
    read: async (name) => await whole(await open(name), `${source}/${name}`),
    blob: (sha256) => open(`${NODE_BLOBS}/${sha256}`),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function folderSource(folder: string): NodeSource {
  return {
    read: async (name) => await whole(createReadStream(join(folder, name)), join(folder, name)),
    blob: async (sha256) => createReadStream(join(folder, NODE_BLOBS, sha256)),
    [Symbol.dispose]: () => undefined,
  };
}

class AnsweredError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answered ${status}`);
    this.status = status;
  }
}

async function request(url: string, agent: Agent): Promise<Readable> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    const asked = get(url, { agent, timeout: SILENCE_MS }, (answer) => {
      if (answer.statusCode === 200) {
        resolve(answer);
        return;
      }
      answer.resume();
      reject(new AnsweredError(answer.statusCode ?? 0));
    });
    asked.once("timeout", () => asked.destroy(new Error(`no byte for ${SILENCE_MS / 1000} s`)));
    asked.once("error", reject);
  });
}

async function whole(bytes: Readable, shown: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of bytes) {
      const part = chunk as Buffer;
      size += part.length;
      if (size > MAX_SMALL_BYTES) throw new Error(`it is longer than ${MAX_SMALL_BYTES} bytes`);
      chunks.push(part);
    }
  } catch (error) {
    throw failed(shown, error);
  }
  return Buffer.concat(chunks);
}

function failed(shown: string, error: unknown): SourceFailedError {
  return new SourceFailedError(
    `${shown}: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}
