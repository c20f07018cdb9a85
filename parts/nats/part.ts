/** NATS: the bus between coordinator and nodes. Whoever comes shows a certificate, and the coordinator admits them. */
import { fromSeed } from "@nats-io/nkeys";
import { BUS_ACCOUNT } from "@resontech/contracts/coordinator-config";
import { defineEngine, type PartFacts } from "@resontech/frame/define-part";
import { serverNames } from "@resontech/frame/server-names";
import { renderNatsConfig } from "./src/nats-config.ts";

const NAME = "nats";
const CONFIG = "nats.conf";

/** Of a seed that the coordinator keeps, what others may know. */
function publicKey({ read, secret }: PartFacts, seed: string): string {
  return fromSeed(new TextEncoder().encode(read(secret("coordinator", seed)) ?? "")).getPublicKey();
}

export const nats = defineEngine({
  name: NAME,
  user: 10,
  engine: NAME,
  program: "nats-server",
  args: ({ secret }) => ["--config", secret(NAME, CONFIG)],
  files: [
    {
      name: CONFIG,
      text: (facts) =>
        renderNatsConfig({
          listen: `${facts.appliance.address}:${facts.appliance.ports.nats}`,
          certFile: facts.secret(NAME, "server.crt"),
          keyFile: facts.secret(NAME, "server.key"),
          caFile: facts.layout.rootCert,
          account: BUS_ACCOUNT,
          coordinatorKey: publicKey(facts, "nats-user.seed"),
          issuerKey: publicKey(facts, "nats-account.seed"),
        }),
    },
  ],
  after: [],
  port: { of: "nats", on: "perimeter" },
  sockets: {},
  certificates: [{ name: "server", dnsNames: serverNames }],
  // It reads its files again, and ends no connection for it.
  certificateChange: { signal: "SIGHUP", toldBy: "renewal" },
  // Its greeting, before TLS begins.
  health: { greeting: /^INFO / },
  settings: [],
  data: null,
  firstBytes: 0,
  stop: { graceMs: 15_000 },
  inShortage: "last",
});
