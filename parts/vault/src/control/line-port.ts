/** A socket of the vault: a question asked, one line answered, or several. Who may ask is settled by the socket's folder. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type LineServer, ReceiverGoneError, serveLines } from "@resontech/frame/serve-lines";
import { AuditUnavailable } from "@resontech/audit/producer";
import { ConfigError } from "../config.ts";
import type { Objection } from "../decisions/approval.ts";
import { VaultRefused } from "../vault-refused.ts";

/** A thousand subjects. */
const MAX_REQUEST_BYTES = 131_072;
const MAX_CONNECTIONS = 64;
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
  /** Has what is no request refused on record. @default it is refused, and nothing tells of it */
  refuse?: (asked: unknown, objection: Objection) => Promise<never>;
  /** A request failed that nobody is to blame for. */
  onFault: (error: unknown) => void;
};

export class LinePort implements AsyncDisposable {
  readonly #server: LineServer;

  private constructor(server: LineServer) {
    this.#server = server;
  }

  /** @throws ConfigError when the folder is open to everybody */
  static async listen<T>({
    path,
    isRequest,
    answer,
    refuse,
    onFault,
  }: LinePortOptions<T>): Promise<LinePort> {
    const folder = dirname(path);
    if (((await stat(folder)).mode & OTHERS) !== 0)
      throw new ConfigError(`${folder} is open to everybody: its mode must be 0750`);
    const server = await serveLines({
      ...{ path, mode: 0o660, maxRequestBytes: MAX_REQUEST_BYTES, maxConnections: MAX_CONNECTIONS },
      answer: async (asked, give) => {
        if (isRequest(asked)) return await answer(asked, give);
        await refuse?.(asked, NO_REQUEST);
        throw new VaultRefused(NO_REQUEST.code, NO_REQUEST.message);
      },
      errorOf: (error) => {
        const isTold =
          error instanceof VaultRefused ||
          error instanceof AuditUnavailable ||
          error instanceof ReceiverGoneError;
        if (isTold) return { code: error.code, message: error.message };
        onFault(error);
        return { code: "internal", message: "the request failed; the vault's log says why" };
      },
    });
    return new LinePort(server);
  }

  /** Whoever waits for an answer does so in vain. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.end(0);
  }
}
