/** One request over TLS, or in plain to loopback. */
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { CliError } from "./cli-error.ts";

const TIMEOUT_MS = 30_000;
const MAX_REPLY_BYTES = 16 * 1024 ** 2;

export type Request = {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** PEM of whom to trust; null: whom Node trusts. */
  ca: string | null;
  /** Of the whole exchange. @default 30000 */
  timeoutMs?: number;
};
export type Reply = { status: number; headers: Record<string, string>; text: string };

/** @throws CliError `unreachable` when nothing answers, `reply_invalid` for an answer that is too long */
export async function sendRequest(
  { method, url, headers, ca, timeoutMs = TIMEOUT_MS }: Request,
  body: string | null = null,
): Promise<Reply> {
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  const asked = request(url, {
    ...{ method, headers, signal: AbortSignal.timeout(timeoutMs) },
    ...(ca === null ? {} : { ca }),
  });
  asked.end(body ?? undefined);
  try {
    const [reply] = (await once(asked, "response")) as [IncomingMessage];
    const text = await readBounded(reply);
    const answered = Object.entries(reply.headers).map(
      ([name, value]) => [name, String(value)] as const,
    );
    return { status: reply.statusCode ?? 0, headers: Object.fromEntries(answered), text };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "unreachable",
      `${url.origin} does not answer: ${why}`,
      "Check RESON_BASE_URL, SSL_CERT_FILE and the network.",
    );
  }
}

async function readBounded(reply: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES)
      throw new CliError("reply_invalid", "the answer is too long", "Ask for fewer entries.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
