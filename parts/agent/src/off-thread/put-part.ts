import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { type FileRange, readRange } from "../file-range.ts";
import { transfer } from "../object-transfer.ts";
import type { PartAnswer } from "./tasks.ts";

const MAX_REFUSAL_BYTES = 16 * 1024;

export async function putPart(
  range: FileRange,
  url: string,
  ca: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<PartAnswer> {
  const headers = { "content-length": range.length };
  const response = await transfer(url, { method: "PUT", headers, ca, signal }, (request) => {
    // A read that fails destroys the request, which then tells.
    pipeline(read(range, onBytes), request).catch((error: unknown) =>
      request.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  const refusal = response.statusCode === 403 ? await readRefusal(response) : "";
  response.resume();
  const etag = response.headers.etag?.replaceAll('"', "") ?? null;
  return { status: response.statusCode ?? 0, etag, refusal };
}

async function readRefusal(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > MAX_REFUSAL_BYTES) break;
  }
  return text;
}

async function* read(range: FileRange, onBytes: (bytes: number) => void): AsyncIterable<Buffer> {
  for await (const chunk of readRange(range)) {
    yield chunk;
    // Asked for the next one: this one is on its way.
    onBytes(chunk.length);
  }
}
