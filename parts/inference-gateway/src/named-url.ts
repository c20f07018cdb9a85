/** A body that names where the bytes are: `{"url": "https://…"}`. */
import type { IncomingMessage } from "node:http";
import { abortable } from "@resontech/frame/abortable";
import { MAX_URL_LENGTH } from "./outbound/outbound-url.ts";
import { OutboundError } from "./outbound/outbound-error.ts";
import { bodyOf, type ReplicaBody } from "./replica-body.ts";

/** A longer one holds its bytes itself; a replica refuses it where it does not. */
const MAX_ENVELOPE_BYTES = 2 * MAX_URL_LENGTH;

/** Reads the URL that a body names; null where it names none. Pure. @throws OutboundError url_invalid */
export function urlIn(bytes: Buffer): string | null {
  let said: unknown;
  try {
    said = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  if (typeof said !== "object" || said === null || !Object.hasOwn(said, "url")) return null;
  const { url } = said as { url: unknown };
  if (typeof url !== "string") throw new OutboundError("url_invalid", "the url is no text");
  return url;
}

/** The body as it stands, or the URL that it names. @throws OutboundError url_invalid; what `signal` says */
export async function readNamedUrl(
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<{ body: ReplicaBody } | { url: string }> {
  const body = bodyOf(request);
  const [kind = ""] = (body.contentType ?? "").split(";");
  if (kind.trim().toLowerCase() !== "application/json" || body.length > MAX_ENVELOPE_BYTES)
    return { body };
  const bytes = await abortable(wholeOf(request), signal);
  const url = urlIn(bytes);
  return url === null ? { body: { ...body, stream: once(bytes) } } : { url };
}

/** Node holds the body to the length that its head says. */
async function wholeOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request.iterator({ destroyOnReturn: false }))
    pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}
