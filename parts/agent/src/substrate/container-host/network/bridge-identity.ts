import type { TLSSocket } from "node:tls";

/** What an agent shows to its peers, and what it believes them by. PEM. */
export type BridgeIdentity = {
  /** The node's certificate, followed by the intermediate. */
  certPem: string;
  keyPem: string;
  rootCertPem: string;
};

/** A peer that can't finish a handshake, or a server that can't be reached, within this time is let go. */
export const BRIDGE_SETUP_MS = 10_000;
/** Over all of an attempt's members on one node; NVFlare needs two for each. */
export const MAX_BRIDGE_CONNECTIONS = 256;
/** Dead peers are noticed; silent ones are left alone. */
export const KEEP_ALIVE = {
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  noDelay: true,
} as const;

export function certificateSha256(socket: TLSSocket): string | null {
  return socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase() ?? null;
}
