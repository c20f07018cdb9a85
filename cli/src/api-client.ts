/** One JSON question to the appliance's API. */
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { CliError } from "./cli-error.ts";
import type { Settings } from "./settings.ts";

const TIMEOUT_MS = 30_000;
const MAX_REPLY_BYTES = 16 * 1024 ** 2;

/**
 * @param query members that are undefined are left out
 * @throws CliError with the API's own code and hint; `unreachable` when it does not answer, `reply_invalid` for what is none of its answers
 */
export async function getJson(
  { baseUrl, apiKey, ca }: Settings,
  path: string,
  query: Record<string, string | number | undefined> = {},
): Promise<unknown> {
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" };
  const asked = request(url, {
    headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(ca === null ? {} : { ca }),
  });
  asked.end();
  let reply: IncomingMessage;
  let text: string;
  try {
    [reply] = (await once(asked, "response")) as [IncomingMessage];
    text = await readBounded(reply);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "unreachable",
      `${url.origin} does not answer: ${why}`,
      "Check RESON_BASE_URL, SSL_CERT_FILE and the network.",
    );
  }
  const body = parsed(text);
  if (reply.statusCode === 200) return body;
  const {
    code = "reply_invalid",
    message = `status ${reply.statusCode}`,
    hint = "",
  } = body as Record<string, string>;
  throw new CliError(code, message, hint);
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

function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body;
  } catch {
    // Said below.
  }
  throw new CliError(
    "reply_invalid",
    "the answer is no JSON",
    "Check that RESON_BASE_URL names an appliance.",
  );
}
