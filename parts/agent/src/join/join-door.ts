/** The door where hosts join: over HTTPS that the appliance's root vouches for, before they have a certificate that is good. */
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { JoinReply, type JoinRequest } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";
import type { Logger } from "pino";
import { DoorTrust } from "./door-trust.ts";

const MAX_REPLY_BYTES = 256 * 1024;
const JOIN_RETRY_MS = 2_000;
const readJoinReply = reader(JoinReply);

/** The coordinator did not admit this node. */
export class JoinRefusedError extends Error {
  readonly code: string;
  /** HTTP status; 0 when nobody was asked. */
  readonly status: number;

  constructor(code: string, message: string, status = 0) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/**
 * Asks until there is an answer. A refusal is final; no answer, or one of 500 and more, is not.
 * @throws JoinRefusedError
 */
export async function askDoor(
  config: AgentConfig,
  body: JoinRequest,
  log: Logger,
  signal: AbortSignal,
): Promise<JoinReply> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await postJoin(config, body);
    } catch (error) {
      if (error instanceof JoinRefusedError && error.status < 500) throw error;
      log.warn({ err: error }, "the join waits for the appliance");
    }
    await sleep(JOIN_RETRY_MS, undefined, { signal });
  }
}

async function postJoin(config: AgentConfig, body: JoinRequest): Promise<JoinReply> {
  const { status, text } = await new Promise<{ status: number; text: string }>(
    (resolve, reject) => {
      const asked = request(
        new URL("/api/nodes/join", config.apiUrl),
        {
          method: "POST",
          ca: new DoorTrust(config).ca,
          headers: { "content-type": "application/json" },
          timeout: 30_000,
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
            if (text.length > MAX_REPLY_BYTES)
              asked.destroy(new Error("the answer to the join is too long"));
          });
          response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      asked.once("timeout", () =>
        asked.destroy(new Error("the join was not answered within 30 s")),
      );
      asked.once("error", reject);
      asked.end(JSON.stringify(body));
    },
  );
  const reply = parse(text);
  const joined = status >= 200 && status < 300 ? readJoinReply(reply) : null;
  if (joined !== null) return joined;
  const field = (name: string): string | null =>
    typeof reply === "object" && reply !== null && name in reply
      ? String((reply as Record<string, unknown>)[name])
      : null;
  throw new JoinRefusedError(
    field("code") ?? `http_${status}`,
    field("message") ?? text.slice(0, 200),
    status,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
