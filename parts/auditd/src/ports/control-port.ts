/**
 * The operator's socket: one question asked, one line answered. Its folder is closed to everybody but auditd's user and root, so who gets here may ask;
 * what two people must agree on names both, and is a leaf. So is every refusal.
 */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AuditControlRequest } from "@resontech/contracts/audit-control";
import { type LineServer, serveLines } from "@resontech/frame/serve-lines";
import { Compile } from "typebox/compile";
import { actionOf } from "../decisions/operator-requests.ts";

/** A policy with its keys, escaped. */
const MAX_REQUEST_BYTES = 524_288;
const MAX_CONNECTIONS = 8;
const LAST_WORDS_MS = 1_000;
const OTHERS = 0o077;

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
  readonly #server: LineServer;

  private constructor(server: LineServer) {
    this.#server = server;
  }

  /** @throws when the folder is open to others */
  static async listen(path: string, host: ControlHost): Promise<ControlPort> {
    if (((await stat(dirname(path))).mode & OTHERS) !== 0)
      throw new Error(`${dirname(path)} is open to others: its mode must be 0700`);
    return new ControlPort(
      await serveLines({
        ...{ path, mode: 0o600 },
        ...{ maxRequestBytes: MAX_REQUEST_BYTES, maxConnections: MAX_CONNECTIONS },
        answer: (request) => answerOrRefusal(request, host),
        errorOf: (error) =>
          error instanceof ControlRefused
            ? { code: error.code, message: error.message }
            : { code: "failed", message: error instanceof Error ? error.message : String(error) },
      }),
    );
  }

  /** What is being answered is ended by who answers it. */
  async close(): Promise<void> {
    await this.#server.end(LAST_WORDS_MS);
  }
}

/** @throws ControlRefused once the refusal is on record */
async function answerOrRefusal(
  request: unknown,
  { answer, recordRefusal }: ControlHost,
): Promise<object> {
  try {
    if (!isRequest.Check(request))
      throw new ControlRefused("request_invalid", "no such request, or wrong members");
    return await answer(request);
  } catch (error) {
    if (error instanceof ControlRefused) await recordRefusal(actionOf(request), error.code);
    throw error;
  }
}
