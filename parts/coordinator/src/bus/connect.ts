import { readFileSync } from "node:fs";
import { connect, type NatsConnection, nkeyAuthenticator } from "@nats-io/transport-node";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";

/** Connects with the coordinator's own user key over mutual TLS, and keeps reconnecting until closed. */
export function connectBus(config: CoordinatorConfig["nats"]): Promise<NatsConnection> {
  return connect({
    servers: config.url,
    name: "coordinator",
    authenticator: nkeyAuthenticator(readSeed(config.userSeedFile)),
    tls: { caFile: config.caFile, certFile: config.certFile, keyFile: config.keyFile },
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitterTLS: 250,
    waitOnFirstConnect: true,
    ignoreAuthErrorAbort: true,
  });
}

/** An NKey seed file: one line, surrounding white space ignored. */
export function readSeed(file: string): Uint8Array {
  return new TextEncoder().encode(readFileSync(file, "utf8").trim());
}
