/** The node's certificate: had once with a one-use token over TLS that the appliance's root vouches for. */
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { JoinReply } from "@resontech/contracts/agent-protocol";
import * as x509 from "@peculiar/x509";
import { Value } from "typebox/value";
import { replaceFile } from "../durable-file.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const MAX_REPLY_BYTES = 256 * 1024;

export type NodeIdentity = { node: string; certPem: string; keyPem: string; natsUrl: string };

/** The coordinator did not admit this node. */
export class JoinRefusedError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers the kept identity, or joins with the token. The key never leaves `dataDir`; the certificate is written last. */
export async function ensureIdentity(config: AgentConfig): Promise<NodeIdentity> {
  const [certFile, keyFile, natsFile] = [
    join(config.dataDir, "node.crt"),
    join(config.dataDir, "node.key"),
    join(config.dataDir, "nats-url"),
  ];
  if (!existsSync(certFile)) {
    if (config.joinTokenFile === null)
      throw new JoinRefusedError(
        "join_token_missing",
        "this node has no certificate and no join token; ask for one with `appliance join-token`",
      );
    const token = readFileSync(config.joinTokenFile, "utf8").trim();
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
    const csr = await x509.Pkcs10CertificateRequestGenerator.create({
      name: `CN=${config.node}`,
      keys,
      signingAlgorithm: ALGORITHM,
    });
    const reply = await postJoin(config, { token, csr: csr.toString("pem") });
    replaceFile(
      keyFile,
      x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY"),
      0o600,
    );
    replaceFile(natsFile, reply.natsUrl);
    replaceFile(certFile, reply.certChain);
    rmSync(config.joinTokenFile, { force: true });
  }
  return {
    node: config.node,
    certPem: readFileSync(certFile, "utf8"),
    keyPem: readFileSync(keyFile, "utf8"),
    natsUrl: readFileSync(natsFile, "utf8"),
  };
}

async function postJoin(config: AgentConfig, body: { token: string; csr: string }): Promise<JoinReply> {
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request(
      new URL("/api/nodes/join", config.apiUrl),
      { method: "POST", ca: readFileSync(config.rootCertFile), headers: { "content-type": "application/json" }, timeout: 30_000 },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MAX_REPLY_BYTES) asked.destroy(new Error("the answer to the join is too long"));
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    asked.once("timeout", () => asked.destroy(new Error("the join was not answered within 30 s")));
    asked.once("error", reject);
    asked.end(JSON.stringify(body));
  });
  const reply: unknown = JSON.parse(text);
  if (status >= 200 && status < 300 && Value.Check(JoinReply, reply)) return reply;
  const code = typeof reply === "object" && reply !== null && "code" in reply ? String(reply.code) : `http_${status}`;
  const message = typeof reply === "object" && reply !== null && "message" in reply ? String(reply.message) : text.slice(0, 200);
  throw new JoinRefusedError(code, message);
}
