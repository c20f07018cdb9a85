/** A Unix socket: a JSON line asked, one answered, or several. Who may ask is settled by the socket's folder. */
import { once } from "node:events";
import { chmod, rm, stat } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { AuditUnavailable } from "../../log/producer/producer.ts";
import { ConfigError } from "../config.ts";
import type { Objection } from "../decisions/approval.ts";
import { VaultRefused } from "../vault-refused.ts";

/** A thousand subjects. */
const MAX_LINE_BYTES = 131_072;
const ASK_TIMEOUT_MS = 10_000;
/** Whoever takes no line for so long takes none any more: an export reads much between two lines. */
const TAKE_TIMEOUT_MS = 300_000;
const OTHERS = 0o007;
const NO_REQUEST: Objection = {
  code: "request_invalid",
  message: "no such request, or wrong members",
};

/** @param give sends a line before the last one; resolves when it was taken */
export type Answer<T> = (request: T, give: (line: object) => Promise<void>) => Promise<object>;

export type LinePortOptions<T> = {
  path: string;
  isRequest: (value: unknown) => value is T;
  answer: Answer<T>;
  /** Has a line that is no request refused on record. @default it is refused, and nothing tells of it */
  refuse?: (line: unknown, objection: Objection) => Promise<never>;
  /** A request failed that nobody is to blame for. */
  onFault: (error: unknown) => void;
};

export class LinePort implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(serve: (socket: Socket) => void) {
    // Whoever has asked may have nothing more to say, and still waits.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      serve(socket);
    });
  }

  /** @throws ConfigError when the folder is open to everybody */
  static async listen<T>(options: LinePortOptions<T>): Promise<LinePort> {
    const { path } = options;
    const folder = dirname(path);
    if (((await stat(folder)).mode & OTHERS) !== 0)
      throw new ConfigError(`${folder} is open to everybody: its mode must be 0750`);
    const port = new LinePort((socket) => serve(socket, options));
    await rm(path, { force: true });
    port.#server.listen(path);
    await once(port.#server, "listening");
    await chmod(path, 0o660);
    return port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function serve<T>(socket: Socket, options: LinePortOptions<T>): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isAsked = false;
  socket.setTimeout(ASK_TIMEOUT_MS, () => socket.destroy());
  socket.on("error", () => {});
  // Who ends without a question asks whether anybody is there.
  socket.on("end", () => {
    if (!isAsked) socket.end();
  });
  socket.on("data", (chunk: Buffer) => {
    if (isAsked) return;
    chunks.push(chunk);
    bytes += chunk.length;
    if (!chunk.includes(0x0a) && bytes <= MAX_LINE_BYTES) return;
    isAsked = true;
    socket.setTimeout(0);
    const [line = ""] = Buffer.concat(chunks).toString("utf8").split("\n", 1);
    void reply(socket, line, options).then((last) => socket.end(`${JSON.stringify(last)}\n`));
  });
}

async function reply<T>(
  socket: Socket,
  line: string,
  { isRequest, answer, refuse, onFault }: LinePortOptions<T>,
): Promise<object> {
  try {
    const request = parsed(line);
    if (!isRequest(request)) {
      await refuse?.(request, NO_REQUEST);
      throw new VaultRefused(NO_REQUEST.code, NO_REQUEST.message);
    }
    return await answer(request, (given) => send(socket, given));
  } catch (error) {
    if (error instanceof VaultRefused || error instanceof AuditUnavailable)
      return { error: { code: error.code, message: error.message } };
    onFault(error);
    return { error: { code: "internal", message: "the request failed; the vault's log says why" } };
  }
}

async function send(socket: Socket, line: object): Promise<void> {
  if (socket.destroyed) throw new VaultRefused("receiver_gone", "the receiver has hung up");
  if (socket.write(`${JSON.stringify(line)}\n`)) return;
  const signal = AbortSignal.timeout(TAKE_TIMEOUT_MS);
  const gone = once(socket, "close", { signal });
  gone.catch(() => {});
  try {
    await Promise.race([
      once(socket, "drain", { signal }),
      gone.then(() => Promise.reject(new Error("closed"))),
    ]);
  } catch {
    socket.destroy();
    throw new VaultRefused("receiver_gone", "the receiver takes no more lines");
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
