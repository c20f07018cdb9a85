/** The registry mirror: images of the release and of the operator, for the containers of this site. It takes no push. */
import { REGISTRY_SERVICE, REGISTRY_TOKEN_ISSUER } from "@resontech/contracts/coordinator-config";
import { defineEngine } from "@resontech/frame/define-part";
import { renderRegistryConfig } from "./src/registry-config.ts";

const NAME = "registry";
const CONFIG = "registry.yml";
const TOKEN_ISSUERS = "token-issuers.pem";

export const registry = defineEngine({
  name: NAME,
  user: 12,
  engine: NAME,
  args: ({ secret }) => ["serve", secret(NAME, CONFIG)],
  env: () => ({ OTEL_TRACES_EXPORTER: "none" }),
  files: [
    {
      name: CONFIG,
      text: ({ layout, secret, appliance: { address, name, ports } }) =>
        renderRegistryConfig({
          listen: `${address}:${ports.registry}`,
          publicUrl: `https://${name}:${ports.registry}`,
          storageDir: layout.data(NAME),
          certFile: secret(NAME, "server.crt"),
          keyFile: secret(NAME, "server.key"),
          token: {
            realm: `https://${name}:${ports.api}/token`,
            service: REGISTRY_SERVICE,
            issuer: REGISTRY_TOKEN_ISSUER,
            rootCertBundle: secret(NAME, TOKEN_ISSUERS),
          },
        }),
    },
  ],
  after: [],
  port: { of: "registry", on: "perimeter" },
  sockets: {},
  // It trusts the certificate that signs its tokens, and nothing else.
  secrets: [{ name: TOKEN_ISSUERS, sameAs: { part: "coordinator", name: "registry-token.crt" } }],
  certificates: [{ name: "server", isDoor: true }],
  // It reads its certificate at a start alone: it is ended, and is back within a second.
  certificateChange: { signal: "SIGTERM", toldBy: "renewal" },
  // It is up, and asks for a token.
  health: { httpsPath: "/v2/", status: 401 },
  settings: [],
  // Root's: images arrive as hard links of the release, and the engine only reads.
  data: {
    isBackedUp: false,
    onRestore: "stays",
    folders: [{ name: NAME, owner: "root", mode: 0o755 }],
  },
  firstBytes: 0,
  stop: { graceMs: 15_000 },
  inShortage: "last",
});
