/** A question to another process of ours whose answer may be long: line after line as they are given. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { Value } from "typebox/value";
import { ErrorBody, OperationError } from "./operation-error.ts";
import { readBody } from "./read-body.ts";

const MAX_ERROR_BYTES = 65_536;

/**
 * Who answers waits for who takes the lines.
 *
 * @param question its verb is where it goes, the rest what is sent
 * @param silenceMs how long nothing may come
 * @throws OperationError with the code of the refusal, `part_away` when nobody answers; what the socket says of an answer that breaks off
 */
export async function* askLines(
  socketPath: string,
  { verb, ...body }: { verb: string },
  silenceMs: number,
): AsyncGenerator<object> {
  const message = await answerTo(socketPath, verb, JSON.stringify(body), silenceMs);
  try {
    if (message.statusCode !== 200)
      throw refusalIn(await readBody(message, MAX_ERROR_BYTES), socketPath);
    const lines = createInterface({ input: message });
    // The socket's errors are these lines' as well: they end the loop, and are nobody's once it has ended.
    lines.on("error", () => {});
    for await (const text of lines) {
      const line = JSON.parse(text) as object;
      if ("error" in line && Value.Check(ErrorBody, line.error))
        throw new OperationError(line.error.code, line.error.message);
      yield line;
    }
    if (!message.complete) throw away(`${socketPath} hung up before the end`);
  } finally {
    message.destroy();
  }
}

/** The one line of an answer. @throws as {@link askLines} */
export async function askLine(
  socketPath: string,
  question: { verb: string },
  silenceMs: number,
): Promise<object> {
  for await (const line of askLines(socketPath, question, silenceMs)) return line;
  throw away(`${socketPath} hung up without an answer`);
}

async function answerTo(
  socketPath: string,
  verb: string,
  body: string,
  silenceMs: number,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = httpRequest(
    {
      ...{ socketPath, method: "POST", path: `/${verb}`, agent: false, timeout: silenceMs },
      headers: {
        ...{ host: "localhost", "content-type": "application/json" },
        "content-length": Buffer.byteLength(body),
      },
    },
    resolve,
  );
  sent.once("timeout", () => sent.destroy(new Error(`no answer for ${silenceMs / 1000} s`)));
  sent.on("error", reject);
  sent.end(body);
  return await promise.catch((cause: unknown) => {
    throw away(`${socketPath} does not answer: ${String(cause)}`, cause);
  });
}

function refusalIn(text: string | null, socketPath: string): OperationError {
  try {
    const body: unknown = JSON.parse(text ?? "");
    if (Value.Check(ErrorBody, body)) return new OperationError(body.code, body.message);
  } catch {
    // Falls through: what is no error in our form is one without words.
  }
  return away(`${socketPath} answers in another form`);
}

function away(message: string, cause?: unknown): OperationError {
  return new OperationError("part_away", message, { cause });
}
