/**
 * The node's certificate: had once with a one-use token over TLS that the appliance's root vouches for, and renewed since. One that has ended admits its
 * holder to the next one for a while, at the same door.
 */
import { hash, sign, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { type JoinReply } from "@resontech/contracts/agent-protocol";
import { formatRenewalToken, renewalBytes } from "@resontech/contracts/renewal-token";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import type { Logger } from "pino";
import { evaluateLife } from "../decisions/certificate-life.ts";
import { askDoor, JoinRefusedError } from "./join-door.ts";
import {
  CERTIFICATE,
  fetchNextCertificate,
  KEY,
  lifeSpan,
  takeNextCertificate,
} from "./next-certificate.ts";
import { makeNodeKey } from "./node-key.ts";

export type NodeIdentity = { node: string; certPem: string; keyPem: string; natsUrl: string };

/** Whether the node has joined. */
export function hasIdentity({ dataDir }: Pick<AgentConfig, "dataDir">): boolean {
  return existsSync(join(dataDir, CERTIFICATE));
}

/** Answers the kept identity, renews one that has ended, or joins with the token. @throws JoinRefusedError */
export async function ensureIdentity(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<NodeIdentity> {
  const read = (name: string): string => readFileSync(join(config.dataDir, name), "utf8");
  takeNextCertificate(config.dataDir);
  if (!hasIdentity(config)) await joinOnce(config, log, signal);
  else await renewEnded(config, log, signal);
  return {
    node: config.node,
    certPem: read(CERTIFICATE),
    keyPem: read(KEY),
    natsUrl: read("nats-url"),
  };
}

/** A token that lies there is used only where the certificate admits to nothing more: joining says more than that the node goes on. */
async function renewEnded(config: AgentConfig, log: Logger, signal: AbortSignal): Promise<void> {
  const certPem = readFileSync(join(config.dataDir, CERTIFICATE), "utf8");
  const life = evaluateLife(lifeSpan(certPem), Date.now());
  if (life === "good" || life === "due") return;
  if (life === "ended")
    try {
      return await renewLate(config, certPem, log, signal);
    } catch (error) {
      if (!(error instanceof JoinRefusedError)) throw error;
      log.warn({ err: error }, "the appliance does not renew the certificate that has ended");
    }
  if (config.joinTokenFile === null || !existsSync(config.joinTokenFile))
    throw new JoinRefusedError(
      "certificate_ended",
      `the certificate of ${config.node} has ended and can't be renewed any more; on the appliance: appliance node add ${config.node}`,
    );
  await joinOnce(config, log, signal);
}

async function renewLate(
  config: AgentConfig,
  certPem: string,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const key = { key: readFileSync(join(config.dataDir, KEY)), dsaEncoding: "ieee-p1363" } as const;
  await fetchNextCertificate(config, async (csr) => {
    const signature = sign("sha256", renewalBytes(hash("sha256", csr)), key);
    const token = formatRenewalToken(new X509Certificate(certPem).raw, signature);
    return requireOwn(await askDoor(config, { token, csr }, log, signal), config);
  });
  takeNextCertificate(config.dataDir);
  log.info("the certificate had ended, and was renewed");
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
  const { keyPem, csrPem } = await makeNodeKey(config.node);
  // Before it is asked for: the token is used up by the answer, and a certificate without its key is worth nothing.
  replaceFileNow(file(KEY), keyPem, 0o600);
  const reply = requireOwn(await askDoor(config, { token, csr: csrPem }, log, signal), config);
  replaceFileNow(file("nats-url"), reply.natsUrl, 0o600);
  replaceFileNow(file(CERTIFICATE), reply.certChain, 0o600);
  rmSync(config.joinTokenFile, { force: true });
  return reply;
}

function requireOwn(reply: JoinReply, { node }: AgentConfig): JoinReply {
  if (reply.node === node) return reply;
  throw new JoinRefusedError(
    "join_token_invalid",
    `the token admits ${reply.node}, this node is configured as ${node}`,
  );
}
