/** One call of a deployment, streamed: its file is read while it is sent. */
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { CliError } from "../cli-error.ts";

/** Longer than the appliance lets a replica think. */
const SILENT_MS = 120_000;
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

export type PredictCall = {
  /** `<endpoint>/predict` */
  url: URL;
  key: string;
  /** PEM of whom to trust; null: whom Node trusts. */
  ca: string | null;
  file: string;
  contentType: string;
  /** What the answer shall be. A predictor that an older release deployed answers in JSON all the same. */
  accept: string;
};

/** @returns the answer as it came @throws CliError with the gateway's own type as code; file_missing, unreachable, reply_invalid */
export async function callPredict({
  url,
  key,
  ca,
  file,
  contentType,
  accept,
}: PredictCall): Promise<Buffer> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile())
    throw new CliError("file_missing", `${file} is no file`, "Name a file that you may read.");
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const asked = send(url, {
    method: "POST",
    headers: {
      ...{ "x-api-key": key, "content-type": contentType, "content-length": found.size },
      accept,
    },
    ...(ca === null ? {} : { ca }),
  });
  asked.setTimeout(SILENT_MS, () => asked.destroy(new Error(`silent for ${SILENT_MS / 1_000} s`)));
  try {
    const answered = once(asked, "response") as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    const sending = pipeline(createReadStream(file), asked);
    // A refusal may come before all is sent; then nobody takes the rest.
    const [answer] = await Promise.race([answered, sending.then(() => answered)]);
    sending.catch(() => {});
    const body = await readBounded(answer);
    if (answer.statusCode !== 200) throw refusalOf(answer, body.toString("utf8"));
    return body;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "unreachable",
      `${url.origin} does not answer: ${why}`,
      "Check RESON_BASE_URL, SSL_CERT_FILE and the network.",
    );
  } finally {
    asked.destroy();
  }
}

const HINTS: Readonly<Record<string, string>> = {
  auth_error: "The key is of one deployment alone: resontech infer rotate-key makes a new one.",
  unavailable: "It starts, or has ended: resontech infer ls says which.",
  busy: "Call again in a moment.",
};

function refusalOf({ statusCode, headers }: IncomingMessage, text: string): CliError {
  const { type, message } = errorIn(text);
  const after = headers["retry-after"];
  const hint = HINTS[type] ?? (after === undefined ? "" : `Call again in ${after} s.`);
  return new CliError(type, message ?? `status ${statusCode}`, hint);
}

/** `{error: {type, message}}`, as data planes answer. */
function errorIn(text: string): { type: string; message: string | null } {
  try {
    const { error } = JSON.parse(text) as { error: { type: unknown; message: unknown } };
    if (typeof error.type === "string" && typeof error.message === "string")
      return { type: error.type, message: error.message };
  } catch {
    // Said below.
  }
  return { type: "reply_invalid", message: null };
}

async function readBounded(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new CliError("reply_invalid", "the answer is too long", "Let the predictor say less.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
