/**
 * Makes what the parts need to start: folders, certificates, secrets and one configuration file for each process. Every step keeps what is
 * there, so it runs before each start of the supervisor: that renews certificates and follows a switched release.
 */
import { toolsHome } from "../host-tools/tools-environment.ts";
import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fromSeed, createAccount, createUser } from "@nats-io/nkeys";
import {
  REGISTRY_TOKEN_ISSUER,
  type CoordinatorConfig,
} from "@resontech/contracts/coordinator-config";
import { LOG_SEGMENT_BYTES, RESERVE_STEP_BYTES } from "@resontech/contracts/log-reserve";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { RetentionClasses, VaultConfig } from "@resontech/contracts/vault-config";
import { socketOf } from "@resontech/frame/define-part";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { renderDoorConfig } from "@resontech/door/door-config";
import { inferenceGateway } from "@resontech/inference-gateway/part";
import { notifier } from "@resontech/notifier/part";
import { renderRegistryConfig } from "@resontech/registry/registry-config";
import { writeTrust } from "../ca/door-certificate.ts";
import { CertificateAuthority } from "../ca/certificate-authority.ts";
import { KEYCLOAK_CLIENT } from "../keycloak/appliance-admin.ts";
import { keptDatabase } from "../keycloak/kept-database.ts";
import { stepUpKeysFile } from "../keycloak/pin-step-up-keys.ts";
import { logKeysOf, readAuditKeys, vaultKeyOf } from "../config/audit-keys.ts";
import { ensureMetricsTokens, metricsTokenFiles } from "../config/metrics-token.ts";
import { ensureFolder, type Owner, readableBy, ROOT, writeOwned } from "../config/owned-file.ts";
import { REALM_CLIENTS } from "../keycloak/own-realm.ts";
import { bootstrappedMarker } from "../keycloak/replace-bootstrap-admin.ts";
import { uidOf } from "@resontech/frame/layout";
import { apiSocket } from "../parts/api-socket.ts";
import { dockerCertsDir, podmanCertsDir } from "../parts/registry-certs.ts";
import { imageReference, type PartContext } from "../parts/context.ts";
import { auditProducers } from "../parts/audit-producers.ts";
import { followNameInAgent } from "./follow-name.ts";
import { settleLogReserve } from "../config/log-reserve.ts";
import { renderNatsConfig } from "./nats-config.ts";
import { ensureDoorCertificate, serverNames } from "./door-certificates.ts";
import {
  makePartCertificates,
  makePartFolders,
  renewPartDoor,
  writePartConfig,
} from "./prepare-part.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** NATS account that the coordinator and the admitted nodes share. */
const NATS_ACCOUNT = "FLEET";
const REGISTRY_SERVICE = "resontech-registry";

/** Of the vault: what an ordinary backup may hold, and, apart from it, what none may. */
const VAULT_FOLDERS = ["vault", "vault-keys", "vault-epochs", "vault-key-copies"] as const;

/** More would wait for one another: two hold what the coordinator can answer. */
const DOOR_MOST_THREADS = 4;
/** HAProxy itself allows 1,300 for the memory that the door has. */
const DOOR_MOST_CONNECTIONS = 1_200;
/** Of its own: log, timers, sockets that it listens on. */
const DOOR_OWN_FILES = 128;

/** Parts that people's programs and nodes dial, by whom the customer's own certificate may be shown. */
const DOORS = ["door", "registry"] as const;

/** Each connection of a client may need one more to a part behind the door. */
function doorConnections(openFiles: number): number {
  return Math.min(DOOR_MOST_CONNECTIONS, Math.floor((openFiles - DOOR_OWN_FILES) / 2));
}

export async function prepare(context: PartContext): Promise<void> {
  makeFolders(context);
  await makeCertificates(context, new CertificateAuthority(context.layout.caDir));
  makeSecrets(context);
  writeProcessConfigs(context);
}

type Process = Parameters<typeof uidOf>[1];

/** A folder that the process writes by itself, and root never works in. */
function ownedBy({ config }: PartContext, process: Process): Owner {
  const id = uidOf(config, process);
  return { uid: id, gid: id };
}

/** What root writes for a process to read. */
function readBy({ config }: PartContext, process: Process): Owner {
  return readableBy(uidOf(config, process));
}

function makeFolders(context: PartContext): void {
  const { layout } = context;
  // Named one by one: under the supervisor's umask a parent made along the way would be closed to the processes.
  for (const folder of [
    layout.etc,
    layout.data(),
    layout.run(".."),
    layout.run(),
    layout.run("audit"),
  ])
    ensureFolder(folder, ROOT, 0o755);
  ensureFolder(layout.run("facts"), readBy(context, "coordinator"), 0o750);
  ensureFolder(layout.log(""), ROOT, 0o750);
  ensureFolder(layout.secrets(""), ROOT, 0o755);
  for (const process of [
    "coordinator",
    "door",
    "nats",
    "s3",
    "registry",
    "postgres",
    "keycloak",
  ] as const)
    ensureFolder(layout.secrets(process), readBy(context, process), 0o750);
  for (const part of context.parts) makePartFolders(context, part);
  ensureFolder(layout.secrets("appliance"), ROOT, 0o700);
  // The log's key is made by auditd alone: not even the supervisor sees it.
  ensureFolder(layout.secrets("auditd"), ownedBy(context, "auditd"), 0o700);
  ensureFolder(layout.secrets("vault"), ownedBy(context, "vault"), 0o700);
  for (const folder of VAULT_FOLDERS)
    ensureFolder(layout.data(folder), ownedBy(context, "vault"), 0o700);
  ensureFolder(layout.data("coordinator"), ownedBy(context, "coordinator"), 0o700);
  // Set-group-id: what auditd makes in it, its readers may read.
  ensureFolder(
    layout.data("audit"),
    { uid: uidOf(context.config, "auditd"), gid: uidOf(context.config, "auditOut") },
    0o2750,
  );
  ensureFolder(layout.data("audit-out"), ownedBy(context, "auditOut"), 0o700);
  ensureFolder(layout.data("s3"), readBy(context, "s3"), 0o750);
  for (const folder of ["objects", "versions", "iam"])
    ensureFolder(layout.data("s3", folder), ownedBy(context, "s3"), 0o700);
  ensureFolder(layout.data("postgres"), ownedBy(context, "postgres"), 0o700);
  ensureFolder(keptDatabase(layout.root), ROOT, 0o755);
  ensureFolder(layout.data("keycloak"), ownedBy(context, "keycloak"), 0o700);
  ensureFolder(layout.directoryCa(), ROOT, 0o755);
  ensureFolder(layout.data("registry"), ROOT, 0o755);
  ensureFolder(layout.data("agent"), ROOT, 0o700);
  ensureFolder(layout.data("supervisor"), ROOT, 0o700);
  ensureFolder(layout.data("podman"), ROOT, 0o700);
}

/** Every certificate of the appliance's own authority with a new key, in place; those that run read theirs at their next start. */
export async function renewCertificates(context: PartContext): Promise<void> {
  const ca = new CertificateAuthority(context.layout.caDir, () => new Date(), true);
  await makeCertificates(context, ca);
}

/** What of them is due, missing or another's. */
async function makeCertificates(context: PartContext, ca: CertificateAuthority): Promise<void> {
  const { config, layout } = context;
  await ca.ensureRoot(config.appliance);
  writeTrust(layout);
  await ca.ensureIntermediate(layout.secrets("coordinator"), readBy(context, "coordinator"));
  for (const process of ["nats", "keycloak"] as const) await ensureNames(context, process, ca);
  for (const process of DOORS) await ensureDoor(context, process, ca);
  for (const part of context.parts) await makePartCertificates(context, part, ca);
  await ca.ensureClient(layout.secrets("appliance"), ROOT, KEYCLOAK_CLIENT);
  await ca.ensureClient(layout.secrets("door"), readBy(context, "door"), KEYCLOAK_CLIENT);
  // It calls NATS and Keycloak with it, and serves nobody: an older release gave it a certificate of the appliance's name.
  await ca.ensureClient(layout.secrets("coordinator"), readBy(context, "coordinator"), "client");
  for (const name of ["server.crt", "server.key"])
    rmSync(layout.secrets("coordinator", name), { force: true });
  await ca.ensureServer(
    layout.secrets("coordinator"),
    readBy(context, "coordinator"),
    "registry-token",
    [config.name],
  );
}

/** Renews in place what is due of those doors that see by themselves that another certificate lies there. */
export async function renewLiveDoors(context: PartContext): Promise<void> {
  writeTrust(context.layout);
  const ca = new CertificateAuthority(context.layout.caDir);
  await ensureDoor(context, "door", ca);
  for (const part of context.parts) await renewPartDoor(context, part, ca);
}

/** Renews in place what is due of the two others whose ports are open to the network. @returns whose certificate is another now: these must be told */
export async function renewToldDoors(context: PartContext): Promise<("nats" | "registry")[]> {
  const { layout } = context;
  const ca = new CertificateAuthority(layout.caDir);
  const shown = (process: "nats" | "registry"): string =>
    readFileSync(layout.secrets(process, "server.crt"), "utf8");
  const before = { nats: shown("nats"), registry: shown("registry") };
  await ensureNames(context, "nats", ca);
  await ensureDoor(context, "registry", ca);
  return (["nats", "registry"] as const).filter((process) => shown(process) !== before[process]);
}

async function ensureNames(
  context: PartContext,
  process: "nats" | "keycloak",
  ca: CertificateAuthority,
): Promise<void> {
  const folder = context.layout.secrets(process);
  await ca.ensureServer(folder, readBy(context, process), "server", serverNames(context));
}

async function ensureDoor(
  context: PartContext,
  process: (typeof DOORS)[number],
  ca: CertificateAuthority,
): Promise<void> {
  const [folder, owner] = [context.layout.secrets(process), readBy(context, process)];
  await ensureDoorCertificate(context, { folder, owner }, ca);
}

function makeSecrets(context: PartContext): void {
  const { layout } = context;
  const once = (
    process: "coordinator" | "s3" | "postgres" | "keycloak",
    name: string,
    make: () => string,
  ): string => {
    const file = layout.secrets(process, name);
    if (!existsSync(file)) writeOwned(file, make(), readBy(context, process), 0o440);
    return readFileSync(file, "utf8");
  };
  const random = (): string => randomBytes(32).toString("base64url");
  once("coordinator", "nats-user.seed", () => new TextDecoder().decode(createUser().getSeed()));
  once("coordinator", "nats-account.seed", () =>
    new TextDecoder().decode(createAccount().getSeed()),
  );
  const admin = once("s3", "admin-key.json", () =>
    JSON.stringify({
      accessKeyId: `RT${randomBytes(9).toString("hex").toUpperCase()}`,
      secretAccessKey: random(),
    }),
  );
  once("coordinator", "s3-admin-key.json", () => admin);
  const database = once("postgres", "password", random);
  once("keycloak", "db-password", () => database);
  if (!existsSync(bootstrappedMarker(context))) once("keycloak", "bootstrap-password", random);
  const adminKey = layout.secrets("appliance", "keycloak-admin.key");
  if (!existsSync(adminKey)) writeOwned(adminKey, signingKey(), ROOT, 0o400);
  for (const { keyFile } of Object.values(REALM_CLIENTS)) once("coordinator", keyFile, signingKey);
  once("coordinator", "session.key", random);
  ensureMetricsTokens(context);
  // The registry trusts the certificate that signs its tokens, and nothing else.
  const bundle = layout.secrets("registry", "token-issuers.pem");
  writeOwned(
    bundle,
    readFileSync(layout.secrets("coordinator", "registry-token.crt")),
    readBy(context, "registry"),
    0o440,
  );
}

/** PKCS #8, P-256. */
function signingKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" });
}

function writeProcessConfigs(context: PartContext): void {
  const { config, layout } = context;
  const give = (name: string, process: Process, value: unknown): void =>
    writeOwned(
      layout.processConfig(name),
      `${JSON.stringify(value, null, 2)}\n`,
      readBy(context, process),
      0o440,
    );
  give("auditd", "auditd", auditdConfig(context));
  give("audit-out", "auditOut", auditOutConfig(context));
  give("vault", "vault", vaultConfig(context));
  give("coordinator", "coordinator", coordinatorConfig(context));
  for (const part of context.parts) writePartConfig(context, part);
  if (config.agent !== null) writeAgentConfig(context);
  const seed = (name: string) => fromSeed(readFileSync(layout.secrets("coordinator", name)));
  writeOwned(
    layout.secrets("nats", "nats.conf"),
    renderNatsConfig({
      listen: `${config.address}:${config.ports.nats}`,
      certFile: layout.secrets("nats", "server.crt"),
      keyFile: layout.secrets("nats", "server.key"),
      caFile: layout.rootCert,
      account: NATS_ACCOUNT,
      coordinatorKey: seed("nats-user.seed").getPublicKey(),
      issuerKey: seed("nats-account.seed").getPublicKey(),
    }),
    readBy(context, "nats"),
    0o440,
  );
  writeOwned(
    layout.secrets("door", "haproxy.cfg"),
    renderDoorConfig({
      address: config.address,
      port: config.ports.api,
      name: config.name,
      certFile: layout.secrets("door", "server.crt"),
      coordinatorSocket: apiSocket(layout),
      servingSocket: socketOf(inferenceGateway, layout, "calls"),
      keycloak: {
        ...{ port: config.ports.keycloak, caFile: layout.rootCert },
        clientCertFile: layout.secrets("door", `${KEYCLOAK_CLIENT}.crt`),
      },
      maxConnections: doorConnections(openFilesLimit()),
      threads: Math.min(DOOR_MOST_THREADS, availableParallelism()),
    }),
    readBy(context, "door"),
    0o440,
  );
  writeOwned(
    layout.secrets("registry", "registry.yml"),
    renderRegistryConfig({
      listen: `${config.address}:${config.ports.registry}`,
      publicUrl: `https://${config.name}:${config.ports.registry}`,
      storageDir: layout.data("registry"),
      certFile: layout.secrets("registry", "server.crt"),
      keyFile: layout.secrets("registry", "server.key"),
      token: {
        realm: `https://${config.name}:${config.ports.api}/token`,
        service: REGISTRY_SERVICE,
        issuer: REGISTRY_TOKEN_ISSUER,
        rootCertBundle: layout.secrets("registry", "token-issuers.pem"),
      },
    }),
    readBy(context, "registry"),
    0o440,
  );
}

/** Of the first certificate in the file, which is the gateway's own; hex. */
function gatewayCertificateSha256({ layout }: PartContext): string {
  const certificate = new X509Certificate(
    readFileSync(layout.secrets(inferenceGateway.name, "client.crt")),
  );
  return certificate.fingerprint256.replaceAll(":", "").toLowerCase();
}

export function auditdConfig(context: PartContext): AuditdConfig {
  const { config, layout } = context;
  return {
    originPrefix: `${config.appliance}.audit.${config.customer}`,
    inception: auditInception(join(layout.etc, "audit-inception")),
    auditDir: layout.data("audit"),
    keysDir: layout.secrets("auditd"),
    policyFile: layout.data("audit", "audit.policy"),
    stepUpKeysFile: stepUpKeysFile(layout),
    ...logKeysOf(readAuditKeys(layout) ?? {}),
    producers: auditProducers(context).map(({ name, family, isOccasional }) => ({
      name,
      family,
      occasional: isOccasional,
      socket: layout.run("audit", name, "sock"),
      gid: null,
    })),
    nodeRelay: { producer: "coordinator-gate", rootCertFile: layout.rootCert },
    controlSocket: layout.run("audit", "control", "sock"),
    clockSyncedFile: "/run/systemd/timesync/synchronized",
    // A cold start of audit-out on a busy host; one that runs answers within a second.
    learnMs: 15_000,
    unwitnessed: config.unwitnessed ?? "mark",
    segmentBytes: LOG_SEGMENT_BYTES,
    ballastBytes: settleLogReserve(layout, config.keyKind),
    ballastStepBytes: RESERVE_STEP_BYTES,
    checkpointMs: 500,
    heartbeatMs: 60_000,
    logLevel: "info",
  };
}

/** Receivers of the log are named in `etc/audit-sinks.json`, root's own, and nowhere else; audit-out checks what stands there. */
function auditOutConfig({ layout }: PartContext): AuditOutConfig {
  const file = join(layout.etc, "audit-sinks.json");
  const receivers: Partial<AuditOutConfig> = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : {};
  return {
    sinks: receivers.sinks ?? [],
    worm: receivers.worm ?? null,
    auditDir: layout.data("audit"),
    policyFile: layout.data("audit", "audit.policy"),
    stateDir: layout.data("audit-out"),
    auditSocket: layout.run("audit", "audit-out", "sock"),
    searchSocket: layout.run("audit", "search", "sock"),
    tokensSocket: layout.run("vault-tokens", "sock"),
    witnessCaFile: receivers.witnessCaFile ?? null,
    pollMs: 250,
    retryMs: 1_000,
    logLevel: "info",
  };
}

/** How long leaves and what opens them are kept: as the site says, else as the product does. */
export function retentionOf({
  config,
  layout,
}: Pick<PartContext, "config" | "layout">): RetentionClasses {
  const ofProduct = (): RetentionClasses =>
    JSON.parse(readFileSync(layout.release("app", "policies", "retention.json"), "utf8"));
  return config.retention ?? ofProduct();
}

function vaultConfig(context: PartContext): VaultConfig {
  const { config, layout } = context;
  return {
    dataDir: layout.data("vault"),
    keysDir: layout.data("vault-keys"),
    keyFile: layout.secrets("vault", "key-encryption.key"),
    ...vaultKeyOf(readAuditKeys(layout) ?? {}, `${config.appliance}.vault.${config.customer}`),
    epochsDir: layout.data("vault-epochs"),
    backupsDir: layout.data("vault-key-copies"),
    stepUpKeysFile: stepUpKeysFile(layout),
    auditSocket: layout.run("audit", "vault", "sock"),
    controlSocket: layout.run("vault", "sock"),
    tokensSocket: layout.run("vault-tokens", "sock"),
    retention: retentionOf(context),
    pollMs: 1_000,
    backupMs: 6 * HOUR_MS,
    epochMs: 7 * DAY_MS,
    epochLifeMs: 30 * DAY_MS,
    logLevel: "info",
  };
}

/** Written again once the join token is there: it names the token's file while there is one. */
export function writeAgentConfig(context: PartContext): void {
  followNameInAgent(context.layout, context.config);
  writeOwned(
    context.layout.processConfig("agent"),
    `${JSON.stringify(agentConfig(context), null, 2)}\n`,
    ROOT,
    0o400,
  );
}

/** The day on which the log begins is fixed at install; a later start must find that log. */
function auditInception(file: string): string {
  if (!existsSync(file)) writeOwned(file, new Date().toISOString().slice(0, 10), ROOT, 0o444);
  return readFileSync(file, "utf8");
}

function coordinatorConfig(context: PartContext): CoordinatorConfig {
  const { config, layout, release } = context;
  const secret = (name: string): string => layout.secrets("coordinator", name);
  const { name, ports } = config;
  return {
    listen: { socket: apiSocket(layout) },
    publicUrl: `https://${name}:${ports.api}`,
    databaseFile: layout.data("coordinator", "coordinator.db"),
    controlSocket: layout.run("coordinator", "control"),
    frontSocket: layout.run("front", "sock"),
    audit: {
      gateSocket: layout.run("audit", "coordinator-gate", "sock"),
      recordSocket: layout.run("audit", "coordinator-record", "sock"),
      searchSocket: layout.run("audit", "search", "sock"),
    },
    nats: {
      url: `tls://${name}:${ports.nats}`,
      caFile: layout.rootCert,
      certFile: secret("client.crt"),
      keyFile: secret("client.key"),
      userSeedFile: secret("nats-user.seed"),
      accountSeedFile: secret("nats-account.seed"),
      account: NATS_ACCOUNT,
    },
    s3: {
      endpoint: `https://${name}:${ports.s3}`,
      region: "garage",
      caFile: layout.trustCert,
      adminKeyFile: secret("s3-admin-key.json"),
      // The engine's folders are closed to the coordinator; its own lies on the same file system.
      volumePath: layout.data("coordinator"),
      bucketQuotaBytes: config.bucketQuotaBytes,
      outputExport: config.outputExport ?? "open",
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
      dashboardKeyFile: secret(REALM_CLIENTS.dashboard.keyFile),
      coordinatorKeyFile: secret(REALM_CLIENTS.coordinator.keyFile),
      sessionKeyFile: secret("session.key"),
    },
    mailSocket: socketOf(notifier, layout, "mail"),
    metrics: { tokenFiles: metricsTokenFiles(layout), factsFile: layout.factsFile },
    inference: {
      routesSocket: layout.run("routes", "sock"),
      gatewayCertificateSha256: gatewayCertificateSha256(context),
    },
    images: release.images
      .filter((image) => image.use === "job" && image.profile !== null)
      .map((image) => ({
        profile: image.profile ?? "",
        reference: imageReference(context, image.repository),
        sizeBytes: image.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0),
        packages: image.packages,
        ...(image.modules === undefined ? {} : { modules: image.modules }),
        pythonVersion: image.pythonVersion ?? "",
        ...(image.needs === undefined ? {} : { needs: image.needs }),
      })),
    releaseDir: layout.current,
    dashboardDir: join(layout.current, "app", "dashboard"),
    downloadsDir: join(layout.current, "app", "downloads"),
    keyKind: config.keyKind,
    ...(config.hangAfterMinutes === undefined ? {} : { hangAfterMinutes: config.hangAfterMinutes }),
    natsPublicUrl: `tls://${name}:${ports.nats}`,
    logLevel: "info",
  };
}

function agentConfig({ config, layout }: PartContext): AgentConfig {
  const joinToken = layout.data("agent", "join-token");
  const tools = config.hostTools === "bundle" ? toolsHome(layout.current) : null;
  const registry = `${config.name}:${config.ports.registry}`;
  return {
    node: config.agent?.node ?? "",
    apiUrl: `https://${config.name}:${config.ports.api}`,
    rootCertFile: layout.trustCert,
    address: config.address,
    jobPorts: config.jobPorts ?? DEFAULT_JOB_PORTS,
    dataDir: layout.data("agent"),
    joinTokenFile: existsSync(joinToken) ? joinToken : null,
    containerEngine:
      config.containerEngine.kind === "podman"
        ? { kind: "podman", socket: layout.podmanSocket }
        : { kind: "docker", socket: config.containerEngine.socket },
    registryCertsDir:
      config.containerEngine.kind === "podman"
        ? podmanCertsDir(layout, registry)
        : dockerCertsDir(registry),
    initBinary: layout.release("engines", "rt-init"),
    runnersDir: layout.release("app", "runners"),
    cpuWorkers: config.agent?.cpuWorkers ?? null,
    ...(tools === null ? {} : { toolsDir: join(tools, "bin") }),
    ...(config.jobUids === undefined ? {} : { jobUids: config.jobUids }),
    instance: config.instance,
    livenessSocket: layout.run("agent", "sock"),
    logLevel: "info",
  };
}
