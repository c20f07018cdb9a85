/** The node's certificate: had once with a one-use token over TLS that the appliance's root vouches for. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { JoinReply } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";
import { setTimeout as sleep } from "node:timers/promises";
import * as x509 from "@peculiar/x509";
import type { Logger } from "pino";
import { replaceFileNow } from "@resontech/daemon/durable-file-now";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const MAX_REPLY_BYTES = 256 * 1024;
const JOIN_RETRY_MS = 2_000;
const CERTIFICATE = "node.crt";
const readJoinReply = reader(JoinReply);

export type NodeIdentity = { node: string; certPem: string; keyPem: string; natsUrl: string };

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

/** Whether the node has joined. */
export function hasIdentity({ dataDir }: Pick<AgentConfig, "dataDir">): boolean {
  return existsSync(join(dataDir, CERTIFICATE));
}

/** Answers the kept identity, or joins with the token. @throws JoinRefusedError */
export async function ensureIdentity(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<NodeIdentity> {
  const file = (name: string): string => join(config.dataDir, name);
  if (!hasIdentity(config)) await joinOnce(config, log, signal);
  return {
    node: config.node,
    certPem: readFileSync(file(CERTIFICATE), "utf8"),
    keyPem: readFileSync(file("node.key"), "utf8"),
    natsUrl: readFileSync(file("nats-url"), "utf8"),
  };
}

/**
 * Joins with the token, which is used up. The key never leaves `dataDir`; the certificate is written last, and its file is the sign that the
 * node has joined. An API that does not answer yet is asked again.
 * @throws JoinRefusedError
 */
export async function joinOnce(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<JoinReply> {
  const file = (name: string): string => join(config.dataDir, name);
  if (config.joinTokenFile === null || !existsSync(config.joinTokenFile))
    throw new JoinRefusedError(
      "join_token_missing",
      "this node has no certificate and no join token; ask the operator for one",
    );
  const token = readFileSync(config.joinTokenFile, "utf8").trim();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=${config.node}`,
    keys,
    signingAlgorithm: ALGORITHM,
  });
  const keyPem = x509.PemConverter.encode(
    await webcrypto.subtle.exportKey("pkcs8", keys.privateKey),
    "PRIVATE KEY",
  );
  // Before it is asked for: the token is used up by the answer, and a certificate without its key is worth nothing.
  replaceFileNow(file("node.key"), keyPem, 0o600);
  const reply = await untilAnswered(
    () => postJoin(config, { token, csr: csr.toString("pem") }),
    log,
    signal,
  );
  if (reply.node !== config.node)
    throw new JoinRefusedError(
      "join_token_invalid",
      `the token admits ${reply.node}, this node is configured as ${config.node}`,
    );
  replaceFileNow(file("nats-url"), reply.natsUrl, 0o600);
  replaceFileNow(file(CERTIFICATE), reply.certChain, 0o600);
  rmSync(config.joinTokenFile, { force: true });
  return reply;
}

/** A refusal is final; no answer, or one of 500 and more, is not. */
async function untilAnswered<T>(
  ask: () => Promise<T>,
  log: Logger,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (error instanceof JoinRefusedError && error.status < 500) throw error;
      log.warn({ err: error }, "the join waits for the appliance");
    }
    await sleep(JOIN_RETRY_MS, undefined, { signal });
  }
}

async function postJoin(
  config: AgentConfig,
  body: { token: string; csr: string },
): Promise<JoinReply> {
  const { status, text } = await new Promise<{ status: number; text: string }>(
    (resolve, reject) => {
      const asked = request(
        new URL("/api/nodes/join", config.apiUrl),
        {
          method: "POST",
          ca: readFileSync(config.rootCertFile),
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
