/**
 * The control socket: whoever can open it is root, so its place is its lock (0600 in a folder of 0700). One request a line,
 * answered in order; a line that is too long or no request ends in an answer, never in a crash.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import {
  ControlPerson,
  type ControlReply,
  ControlRequest,
  MAX_CONTROL_LINE_BYTES,
} from "@resontech/contracts/control-protocol";
import type { FastifyBaseLogger } from "fastify";
import { Value } from "typebox/value";
import { errorBody } from "../api-error.ts";
import { asApiError } from "../http/error-replies.ts";

/** @param person of the host who asks; null where nobody signed in */
export type ControlHandler = (
  request: ControlRequest,
  person: string | null,
) => Promise<ControlReply>;

const IDLE_MS = 120_000;

export class ControlServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(handle: ControlHandler, logger: FastifyBaseLogger) {
    // A client may end its half after the last request and still wait for the answer.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", (err) => logger.warn({ err }, "control connection failed"));
      socket.setTimeout(IDLE_MS, () => socket.destroy());
      serve(socket, handle, logger).catch((err: unknown) => {
        logger.warn({ err }, "control connection ended");
        socket.destroy();
      });
    });
  }

  /** @throws when the socket's folder lets others in */
  static async listen(
    path: string,
    handle: ControlHandler,
    logger: FastifyBaseLogger,
  ): Promise<ControlServer> {
    const folder = await lstat(dirname(path));
    if (!folder.isDirectory() || (folder.mode & 0o077) !== 0)
      throw new Error(`the folder of ${path} must have mode 0700`);
    await rm(path, { force: true });
    const control = new ControlServer(handle, logger);
    const listening = once(control.#server, "listening");
    control.#server.listen(path);
    await listening;
    await chmod(path, 0o600);
    return control;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

async function serve(
  socket: Socket,
  handle: ControlHandler,
  logger: FastifyBaseLogger,
): Promise<void> {
  let pendingBytes = 0;
  socket.on("data", (chunk: Buffer) => {
    const lineEnd = chunk.lastIndexOf(0x0a);
    pendingBytes = lineEnd < 0 ? pendingBytes + chunk.length : chunk.length - lineEnd - 1;
    if (pendingBytes > MAX_CONTROL_LINE_BYTES)
      socket.destroy(new RangeError("a control line is too long"));
  });
  for await (const line of createInterface({
    input: socket,
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    socket.write(`${JSON.stringify(await answer(line, handle, logger))}\n`);
  }
  socket.end();
}

async function answer(
  line: string,
  handle: ControlHandler,
  logger: FastifyBaseLogger,
): Promise<ControlReply> {
  try {
    const { request, person } = parse(line);
    return await handle(request, person);
  } catch (error) {
    const known =
      error instanceof InvalidRequest
        ? { code: "validation_failed" as const, message: error.message }
        : asApiError(error);
    if (known === null) logger.error({ err: error }, "control request failed");
    const { code, message } = known ?? {
      code: "internal_error" as const,
      message: "the request failed; the coordinator's log says why",
    };
    return { ok: false, ...errorBody(code, message) };
  }
}

class InvalidRequest extends Error {
  override readonly name = "InvalidRequest";
}

function parse(line: string): { request: ControlRequest; person: string | null } {
  let value: unknown;
  let person: string | null = null;
  try {
    value = JSON.parse(line);
    if (typeof value === "object" && value !== null && "person" in value) {
      const { person: named, ...rest } = value;
      if (!Value.Check(ControlPerson, named))
        throw new InvalidRequest("person: a name of printable characters is meant");
      [value, person] = [rest, named ?? null];
    }
  } catch (error) {
    if (error instanceof InvalidRequest) throw error;
    throw new InvalidRequest("the line is not JSON");
  }
  if (!Value.Check(ControlRequest, value))
    throw new InvalidRequest(`the line is not a control request${fieldAtFault(value)}`);
  return { request: value, person };
}

/** Which field of a known verb is wrong; nothing for what is no verb. */
function fieldAtFault(value: unknown): string {
  const verb: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, "verb") : undefined;
  const schema = ControlRequest.anyOf.find(({ properties }) => properties.verb.const === verb);
  const first = schema === undefined ? undefined : Value.Errors(schema, value)[0];
  return first === undefined ? "" : `: ${first.instancePath.slice(1) || "it"} ${first.message}`;
}
