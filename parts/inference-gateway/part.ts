/** The gateway of deployments: keys, routes and limits, and the way of each call to a replica. It serves on while the coordinator restarts. */
import { formerName } from "@resontech/contracts/former-name";
import { definePart } from "@resontech/frame/define-part";
import { GatewayConfig } from "./src/config.ts";
import { OutboundHosts } from "./src/outbound/outbound-hosts.ts";

export const OUTBOUND_FILE = "outbound.json";
/** In its folder of data. */
export const CALLS_FOLDER = "calls";
export const CALLBACKS_FOLDER = "callbacks";

/** Its name on installed appliances is that of earlier releases. */
const NAME = "serving";

export const inferenceGateway = definePart({
  name: NAME,
  user: 8,
  program: "serving.mjs",
  after: ["auditd"],
  config: {
    schema: GatewayConfig,
    from: ({ layout, socket, appliance }) => ({
      routesSocket: socket("coordinator", "routes"),
      auditSocket: socket("auditd", NAME),
      outbound: {
        hostsFile: layout.setting(OUTBOUND_FILE),
        s3: {
          names: [...new Set([appliance.name, ...formerName(appliance), appliance.address])],
          ...{ address: appliance.address, port: appliance.ports.s3 },
        },
      },
      certFile: layout.secrets(NAME, "client.crt"),
      keyFile: layout.secrets(NAME, "client.key"),
      rootCertFile: layout.rootCert,
      trustFile: layout.trustCert,
    }),
  },
  sockets: { calls: { for: "door", isHeld: true } },
  certificates: [{ name: "client", dnsNames: [] }],
  health: { socket: "calls" },
  settings: [{ file: OUTBOUND_FILE, schema: OutboundHosts, isFollowed: true }],
  // The journal of calls, and answers that are yet to be posted.
  data: { isBackedUp: true },
  firstBytes: 64 * 1024 ** 2,
  audit: [{ producer: NAME, family: NAME }],
  // Calls that are under way end.
  stop: { graceMs: 15_000 },
  inShortage: "last",
});
