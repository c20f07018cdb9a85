/** All that is held about a person, into a file of the caller's own; what was cut off is no file. */
import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import type { PersonalDataLine } from "@resontech/contracts/http-personal-data";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const SILENT_MS = 60_000;
const MAX_REFUSAL_BYTES = 64 * 1024;

/** @property entries lines of the audit log among them @property whose `own` where others' acts about the person are left out */
export type PersonalData = { lines: number; entries: number; whose: "own" | "all" };

/** @param person the pseudonym @throws CliError file_exists, answer_cut, and what the API says */
export async function getPersonalData(
  settings: Settings,
  person: string,
  file: string,
): Promise<PersonalData> {
  if (existsSync(file))
    throw new CliError("file_exists", `${file} is there already`, "Name another file.");
  const answer = await open(settings, `/api/people/${encodeURIComponent(person)}/data`);
  const part = `${file}.part`;
  const seen = new Lines();
  try {
    await pipeline(
      answer,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          seen.take(chunk);
          yield chunk;
        }
      },
      createWriteStream(part, { mode: 0o600 }),
    );
    const whole = seen.whole();
    if (whole === null) throw cut();
    renameSync(part, file);
    return whole;
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof CliError) throw error;
    throw cut(error);
  }
}

function cut(cause?: unknown): CliError {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new CliError("answer_cut", `the answer ended before its last line${why}`, "Ask again.");
}

/** Counts what comes, and knows by the last line whether all came. */
class Lines {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #lines = 0;
  #entries = 0;
  #whose: "own" | "all" = "own";
  #end: number | null = null;

  take(chunk: Buffer): void {
    const [first = "", ...others] = this.#decoder.write(chunk).split("\n");
    this.#rest += first;
    for (const next of others) {
      this.#read(JSON.parse(this.#rest) as PersonalDataLine);
      this.#rest = next;
    }
  }

  /** Null where something is missing. */
  whole(): PersonalData | null {
    return this.#end === this.#lines && this.#rest === ""
      ? { lines: this.#lines, entries: this.#entries, whose: this.#whose }
      : null;
  }

  #read(line: PersonalDataLine): void {
    if (line.part === "end" && typeof line["lines"] === "number") {
      this.#end = line["lines"];
      return;
    }
    this.#lines += 1;
    if (line.part === "entry") this.#entries += 1;
    if (line.part === "about" && line["entries"] === "all") this.#whose = "all";
  }
}

async function open({ baseUrl, credential, ca }: Settings, path: string): Promise<IncomingMessage> {
  const url = new URL(path, baseUrl);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const asked = send(url, {
    headers: { authorization: `Bearer ${await credential()}` },
    ...(ca === null ? {} : { ca }),
  });
  asked.setTimeout(SILENT_MS, () => asked.destroy(new Error("the appliance is silent")));
  asked.end();
  let answer: IncomingMessage;
  try {
    [answer] = (await once(asked, "response")) as [IncomingMessage];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      "unreachable",
      `${url.origin} does not answer: ${why}`,
      "Check RESON_BASE_URL, SSL_CERT_FILE and the network.",
    );
  }
  if (answer.statusCode === 200) return answer;
  throw await refusalOf(answer);
}

async function refusalOf(answer: IncomingMessage): Promise<CliError> {
  let text = "";
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > MAX_REFUSAL_BYTES) break;
  }
  try {
    const { code, message, hint } = JSON.parse(text) as Record<string, string>;
    if (code !== undefined) return new CliError(code, message ?? "", hint ?? "");
  } catch {
    // Said below.
  }
  return new CliError("reply_invalid", `status ${answer.statusCode}`, "Show it to the operator.");
}
