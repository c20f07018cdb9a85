/**
 * The socket where the S3 front asks about buckets and keys (contracts/src/storage/s3-front-protocol.ts). Who may open it is decided by its folder:
 * the front's group alone. Questions of one connection are answered as each is ready: counting a bucket takes its time.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import {
  agreedVersion,
  PROTOCOL_UNSUPPORTED,
  refusalText,
} from "@resontech/contracts/protocol-versions";
import { reader } from "@resontech/contracts/readable";
import {
  FRONT_PROTOCOL,
  type FrontAnswer,
  type FrontForget,
  FrontHello,
  type FrontHelloAnswer,
  FrontQuestion,
  MAX_FRONT_LINE_BYTES,
} from "@resontech/contracts/s3-front-protocol";
import type { FastifyBaseLogger } from "fastify";

const readHello = reader(FrontHello);
const readQuestion = reader(FrontQuestion);

/** Version of the protocol from which on a front is told which pairs are gone. */
const HEARS_FORGET = 3;
const MAX_FORGOTTEN = 64;

export type FrontHandler = (question: FrontQuestion) => Promise<FrontAnswer>;

export class FrontServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections of fronts that are told which pairs are gone. */
  readonly #hearing = new Set<Socket>();

  private constructor(handle: FrontHandler, logger: FastifyBaseLogger) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        this.#hearing.delete(socket);
      });
      socket.on("error", (err) => logger.warn({ err }, "connection of the S3 front failed"));
      serve(socket, handle, logger, (protocol) => {
        if (protocol >= HEARS_FORGET) this.#hearing.add(socket);
      });
    });
  }

  /** @throws when the socket's folder lets others in */
  static async listen(
    path: string,
    handle: FrontHandler,
    logger: FastifyBaseLogger,
  ): Promise<FrontServer> {
    const folder = await lstat(dirname(path));
    if (!folder.isDirectory() || (folder.mode & 0o007) !== 0)
      throw new Error(`the folder of ${path} must be closed to others: 0750`);
    await rm(path, { force: true });
    const front = new FrontServer(handle, logger);
    const listening = once(front.#server, "listening");
    front.#server.listen(path);
    await listening;
    // The folder's group, which the socket inherits, is the front's.
    await chmod(path, 0o660);
    return front;
  }

  /** Tells every front that these access keys are gone. One that is away forgets all that it remembers when it comes back. */
  forget(accessKeyIds: readonly string[]): void {
    for (let at = 0; at < accessKeyIds.length; at += MAX_FORGOTTEN) {
      const told: FrontForget = { forget: accessKeyIds.slice(at, at + MAX_FORGOTTEN) };
      for (const socket of this.#hearing)
        if (socket.writable) socket.write(`${JSON.stringify(told)}\n`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** @param onAgreed called with the protocol's version once it is agreed on */
function serve(
  socket: Socket,
  handle: FrontHandler,
  logger: FastifyBaseLogger,
  onAgreed: (protocol: number) => void,
): void {
  const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY });
  // The interface hands errors of its input on; the socket's own handler tells of them.
  lines.on("error", () => socket.destroy());
  let isFirst = true;
  let isRefused = false;
  lines.on("line", (line) => {
    if (isRefused) return;
    const value = parse(line);
    const hello = isFirst ? readHello(value) : null;
    isFirst = false;
    if (hello !== null) {
      const answer = answerHello(hello);
      isRefused = answer.hello === "refused";
      if (isRefused)
        logger.warn({ answer }, "the S3 front speaks no version that this release does");
      socket.write(`${JSON.stringify(answer)}\n`);
      if (answer.hello === "agreed") onAgreed(answer.protocol);
      if (isRefused) socket.end();
      return;
    }
    const question = readQuestion(value);
    if (question === null) {
      logger.warn("the S3 front sent what is no question");
      socket.destroy();
      return;
    }
    handle(question)
      .catch((err: unknown): FrontAnswer => {
        logger.warn({ err, ask: question.ask }, "a question of the S3 front failed");
        return { id: question.id, ok: false, message: "the coordinator's log says why" };
      })
      .then((answer) => {
        if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
      })
      .catch((err: unknown) => logger.error({ err }, "an answer to the S3 front was not sent"));
  });
}

function answerHello({ hello: versions }: FrontHello): FrontHelloAnswer {
  const protocol = agreedVersion(FRONT_PROTOCOL, versions);
  if (protocol !== null) return { hello: "agreed", protocol };
  const ours = { ...FRONT_PROTOCOL, name: "the coordinator" };
  const message = refusalText("front protocol", ours, { versions, name: "the S3 front" });
  return { hello: "refused", code: PROTOCOL_UNSUPPORTED, message };
}

function parse(line: string): unknown {
  if (Buffer.byteLength(line) > MAX_FRONT_LINE_BYTES) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
