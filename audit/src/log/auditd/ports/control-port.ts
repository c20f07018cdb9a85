/**
 * The operator's socket: one JSON line asked, one answered. Its folder is closed to everybody but auditd's user and root, so who gets here may ask;
 * what two people must agree on names both, and is a leaf. So is every refusal.
 */
import { chmod, rm, stat } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { AuditControlRequest } from "@resontech/contracts/audit-control";
import { Compile } from "typebox/compile";
import { actionOf } from "../decisions/operator-requests.ts";

/** A policy with its keys, escaped. */
const MAX_LINE_BYTES = 524_288;
const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 8;
const LAST_WORDS_MS = 1_000;

const isRequest = Compile(AuditControlRequest);

/** The request is not granted, and nothing was done for it. */
export class ControlRefused extends Error {
  override readonly name = "ControlRefused";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type ControlHost = {
  /** @throws ControlRefused */
  answer: (request: AuditControlRequest) => Promise<object>;
  /** Resolves once the refusal is on record, where a log takes it. */
  recordRefusal: (action: string, code: string) => Promise<void>;
};

export class ControlPort {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(host: ControlHost) {
    // Whoever has asked may have nothing more to say, and still waits.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      serve(socket, host);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws when the folder is open to others */
  static async listen(path: string, host: ControlHost): Promise<ControlPort> {
    if (((await stat(dirname(path))).mode & 0o077) !== 0)
      throw new Error(`${dirname(path)} is open to others: its mode must be 0700`);
    const port = new ControlPort(host);
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      port.#server.once("error", reject);
      port.#server.listen(path, resolve);
    });
    await chmod(path, 0o600);
    return port;
  }

  /** What is being answered is ended by who answers it. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroySoon();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, LAST_WORDS_MS);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    clearTimeout(timer);
  }
}

function serve(socket: Socket, host: ControlHost): void {
  let text = "";
  let isAsked = false;
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
    if (isAsked || (!text.includes("\n") && text.length <= MAX_LINE_BYTES)) return;
    isAsked = true;
    socket.setTimeout(0);
    void reply(text.split("\n", 1)[0]!, host).then((line) =>
      socket.end(`${JSON.stringify(line)}\n`),
    );
  });
}

async function reply(line: string, host: ControlHost): Promise<object> {
  try {
    return await answerOrRefusal(parsed(line), host);
  } catch (error) {
    return {
      error: { code: "failed", message: error instanceof Error ? error.message : String(error) },
    };
  }
}

async function answerOrRefusal(
  request: unknown,
  { answer, recordRefusal }: ControlHost,
): Promise<object> {
  try {
    if (!isRequest.Check(request))
      throw new ControlRefused("request_invalid", "no such request, or wrong members");
    return await answer(request);
  } catch (error) {
    if (!(error instanceof ControlRefused)) throw error;
    await recordRefusal(actionOf(request), error.code);
    return { error: { code: error.code, message: error.message } };
  }
}

/** Null for what is no JSON: that is no request either. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
