import type { IncomingMessage } from "node:http";

/** All of the body as text; null when there is more than `maxBytes`, the rest of which is not kept. @throws when it breaks off */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? null : Buffer.concat(chunks).toString("utf8");
}
