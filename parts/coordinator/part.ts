/** The coordinator: the job API, jobs and their machine, nodes, people, projects. One process, one database. */
import {
  BUS_ACCOUNT,
  COORDINATOR_NODE_FLAGS,
  CoordinatorConfig,
  REGISTRY_SERVICE,
} from "@resontech/contracts/coordinator-config";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import { defineFrameless, type PartFacts } from "@resontech/frame/define-part";
import { FINDINGS } from "./src/findings/findings.ts";
import { READER_NAME } from "@resontech/prometheus/reader-name";

const NAME = "coordinator";

/** Keys by which its programs are known to the realm. */
export const REALM_KEY_FILES = {
  dashboard: "dashboard-client.key",
  coordinator: "keycloak-client.key",
} as const;
/** Tokens by which `GET /metrics` is read: our own Prometheus', and the customer's. */
export const METRICS_TOKENS = { own: "own-metrics.token", customers: "metrics.token" } as const;

function imagesOf({ appliance: { name, ports }, release }: PartFacts): CoordinatorConfig["images"] {
  return release.images
    .filter((image) => image.use === "job" && image.profile !== null)
    .map((image) => ({
      profile: image.profile ?? "",
      reference: `${name}:${ports.registry}/${image.repository}@${image.digest}`,
      sizeBytes: image.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0),
      packages: image.packages,
      ...(image.modules === undefined ? {} : { modules: image.modules }),
      pythonVersion: image.pythonVersion ?? "",
      ...(image.needs === undefined ? {} : { needs: image.needs }),
    }));
}

function configOf(facts: PartFacts): CoordinatorConfig {
  const { appliance, layout, socket } = facts;
  const { name, ports } = appliance;
  const secret = (file: string): string => facts.secret(NAME, file);
  return {
    listen: { socket: socket(NAME, "api") },
    publicUrl: `https://${name}:${ports.api}`,
    databaseFile: layout.data(NAME, "coordinator.db"),
    controlSocket: socket(NAME, "control"),
    frontSocket: socket(NAME, "front"),
    audit: {
      gateSocket: socket("auditd", "coordinator-gate"),
      recordSocket: socket("auditd", "coordinator-record"),
      searchSocket: socket("audit-out", "search"),
    },
    nats: {
      url: `tls://${name}:${ports.nats}`,
      caFile: layout.rootCert,
      certFile: secret("client.crt"),
      keyFile: secret("client.key"),
      userSeedFile: secret("nats-user.seed"),
      accountSeedFile: secret("nats-account.seed"),
      account: BUS_ACCOUNT,
    },
    s3: {
      endpoint: `https://${name}:${ports.s3}`,
      region: "garage",
      caFile: layout.trustCert,
      adminKeyFile: secret("s3-admin-key.json"),
      // The engine's folders are closed to the coordinator; its own lies on the same file system.
      volumePath: layout.data(NAME),
      bucketQuotaBytes: appliance.bucketQuotaBytes,
      outputExport: appliance.outputExport ?? "open",
    },
    registry: {
      host: `${name}:${ports.registry}`,
      service: REGISTRY_SERVICE,
      tokenKeyFile: secret("registry-token.key"),
      tokenCertFile: secret("registry-token.crt"),
    },
    ca: {
      rootCertFile: layout.rootCert,
      trustFile: layout.trustCert,
      intermediateCertFile: secret("intermediate.crt"),
      intermediateKeyFile: secret("intermediate.key"),
    },
    identity: {
      port: ports.keycloak,
      caFile: layout.rootCert,
      clientCertFile: secret("client.crt"),
      clientKeyFile: secret("client.key"),
      dashboardKeyFile: secret(REALM_KEY_FILES.dashboard),
      coordinatorKeyFile: secret(REALM_KEY_FILES.coordinator),
      sessionKeyFile: secret("session.key"),
    },
    mailSocket: socket("notifier", "mail"),
    metrics: {
      tokenFiles: Object.values(METRICS_TOKENS).map(secret),
      factsFile: layout.factsFile,
    },
    prometheus: {
      port: ports.prometheus ?? DEFAULT_PORTS.prometheus,
      caFile: layout.rootCert,
      certFile: secret("reader.crt"),
      keyFile: secret("reader.key"),
    },
    inference: {
      routesSocket: socket(NAME, "routes"),
      gatewayCertificateSha256: facts.certificateSha256(facts.secret("serving", "client.crt")),
    },
    images: imagesOf(facts),
    releaseDir: layout.current,
    dashboardDir: layout.release("app", "dashboard"),
    downloadsDir: layout.release("app", "downloads"),
    keyKind: appliance.keyKind,
    ...(appliance.hangAfterMinutes === undefined
      ? {}
      : { hangAfterMinutes: appliance.hangAfterMinutes }),
    natsPublicUrl: `tls://${name}:${ports.nats}`,
    logLevel: "info",
  };
}

export const coordinator = defineFrameless({
  name: NAME,
  user: 0,
  program: "coordinator.mjs",
  nodeFlags: COORDINATOR_NODE_FLAGS,
  after: ["nats", "s3-front", "auditd"],
  ownConfig: { schema: CoordinatorConfig, from: configOf },
  sockets: {
    api: { for: "door", speaks: "the API over HTTP", at: ["api", "sock"] },
    front: { for: "s3-front", speaks: "JSON lines", at: ["front", "sock"] },
    routes: { for: "serving", speaks: "JSON lines", at: ["routes", "sock"] },
    control: { for: "root", speaks: "the API over HTTP", at: [NAME, "control"] },
  },
  secrets: [
    { name: "nats-user.seed", kind: "nkey-user" },
    { name: "nats-account.seed", kind: "nkey-account" },
    { name: "s3-admin-key.json", sameAs: { part: "s3", name: "admin-key.json" } },
    ...Object.values(REALM_KEY_FILES).map((name) => ({ name, kind: "p256" as const })),
    { name: "session.key", kind: "random" },
    ...Object.values(METRICS_TOKENS).map((name) => ({ name, kind: "random" as const })),
  ],
  certificates: [
    { name: "intermediate", isAuthority: true },
    // It calls NATS and Keycloak with it, and serves nobody.
    { name: "client", dnsNames: [] },
    // Prometheus answers this name alone.
    { name: "reader", dnsNames: [READER_NAME] },
    { name: "registry-token", dnsNames: ({ name }) => [name] },
  ],
  health: { socket: "api", headers: { [PEER_HEADER]: "127.0.0.1" } },
  settings: [],
  choices: ["bucketQuotaBytes", "hangAfterMinutes", "outputExport"],
  data: { isBackedUp: "apart" },
  firstBytes: 128 * 1024 ** 2,
  audit: [
    { producer: "coordinator-gate", family: NAME },
    { producer: "coordinator-record", family: NAME },
  ],
  findings: FINDINGS,
  stop: { graceMs: 15_000 },
  inShortage: "last",
  loads: [
    ...["app/node_modules/better-sqlite3/", "app/node_modules/@cedar-policy/cedar-wasm/"],
    ...["app/policies/cedar/", "app/coordinator-log-search.mjs"],
  ],
});
