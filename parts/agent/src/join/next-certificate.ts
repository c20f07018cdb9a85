/**
 * The node's next certificate, for a new key. Both lie beside those in force under names of their own, and take their place at a start of the agent:
 * whatever shows a certificate, or signs with its key, then does so with one and the same. No container ends for it.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { RenewReply } from "@resontech/contracts/agent-protocol";
import { replaceFileNow, syncNow } from "@resontech/frame/durable-file-now";
import type { Logger } from "pino";
import { evaluateLife } from "../decisions/certificate-life.ts";
import type { Wake } from "../wake.ts";
import { makeNodeKey } from "./node-key.ts";

export const CERTIFICATE = "node.crt";
export const KEY = "node.key";
const NEXT_CERTIFICATE = "next-node.crt";
const NEXT_KEY = "next-node.key";
const LOOK_MS = 3_600_000;

/** Puts the next certificate and its key in force. It is safe to repeat from any point: the certificate comes last. While it lies there, a key that is missing has taken its place already. */
export function takeNextCertificate(dataDir: string): void {
  const file = (name: string): string => join(dataDir, name);
  if (!existsSync(file(NEXT_CERTIFICATE))) return rmSync(file(NEXT_KEY), { force: true });
  if (existsSync(file(NEXT_KEY))) renameSync(file(NEXT_KEY), file(KEY));
  syncNow(dataDir);
  renameSync(file(NEXT_CERTIFICATE), file(CERTIFICATE));
  syncNow(dataDir);
}

/**
 * @param ask for the certificate of a request
 * @throws Error for a certificate that is another key's, and nothing has changed
 */
export async function fetchNextCertificate(
  { dataDir, node }: { dataDir: string; node: string },
  ask: (csr: string) => Promise<RenewReply>,
): Promise<void> {
  const { keyPem, csrPem } = await makeNodeKey(node);
  const { certChain } = await ask(csrPem);
  if (!new X509Certificate(certChain).checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error("the coordinator answered with a certificate of another key");
  replaceFileNow(join(dataDir, NEXT_KEY), keyPem, 0o600);
  replaceFileNow(join(dataDir, NEXT_CERTIFICATE), certChain, 0o600);
}

/** Unix milliseconds. */
export function lifeSpan(certPem: string): { from: number; to: number } {
  const { validFrom, validTo } = new X509Certificate(certPem);
  return { from: Date.parse(validFrom), to: Date.parse(validTo) };
}

export type RenewalWatch = {
  dataDir: string;
  node: string;
  /** Null while the coordinator can't be asked. */
  renew: () => ((csr: string) => Promise<RenewReply>) | null;
  wake: Wake;
  log: Logger;
};

/** Resolves once the agent is to start anew: its next certificate lies there, or the one that it has came to its end. */
export async function renewInTime(
  { dataDir, node, renew, wake, log }: RenewalWatch,
  signal: AbortSignal,
): Promise<void> {
  const span = lifeSpan(readFileSync(join(dataDir, CERTIFICATE), "utf8"));
  for (; !signal.aborted; await wake.within(LOOK_MS, signal)) {
    const life = evaluateLife(span, Date.now());
    if (life === "good") continue;
    if (life !== "due") return;
    const ask = renew();
    if (ask === null) continue;
    try {
      await fetchNextCertificate({ dataDir, node }, ask);
      log.info(
        "the node has its next certificate: the agent starts anew, and its containers go on",
      );
      return;
    } catch (error) {
      log.warn({ err: error }, "the node's certificate could not be renewed; it is tried again");
    }
  }
}
