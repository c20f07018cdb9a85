/** What the operator may choose, as flags of install.sh; the help text is made from these. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { type ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import type { Command } from "commander";

export type InstallFlags = {
  bundle: string;
  key: string;
  root: string;
  instance: string;
  name: string;
  address: string;
  appliance: string;
  customer: string;
  node: string;
  cpuWorkers?: string;
  username: string;
  keyKind: "live" | "dev";
  engine: "podman" | "docker";
  uidBase: string;
  bucketQuotaGib: string;
  yes: boolean;
  dryRun: boolean;
  portApi: string;
  portS3: string;
  portRegistry: string;
  portNats: string;
  portKeycloak: string;
  portKeycloakManagement: string;
  portPostgres: string;
};

export const DEFAULT_ROOT = "/opt/resontech";

export function addInstallOptions(command: Command): Command {
  const slug =
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 40) || "node";
  command
    .requiredOption("--bundle <dir>", "the bundle folder (install.sh gives it)")
    .requiredOption("--key <file>", "PEM of the bundle's public key (install.sh gives it)")
    .option("--root <dir>", "where to install", DEFAULT_ROOT)
    .option("--instance <slug>", "name of this appliance on this host", "default")
    .option("--name <name>", "the one DNS name that clients and nodes use", "localhost")
    .option("--address <ip>", "address of the perimeter", "127.0.0.1")
    .option("--appliance <slug>", "appliance label in the audit log's origin", "appliance")
    .option("--customer <slug>", "customer label in the audit log's origin", "customer")
    .option("--node <slug>", "name of this host as a node", slug)
    .option("--cpu-workers <n>", "slots on this host when it has no accelerator (default: one per core)")
    .option("--username <name>", "login of the first user", "admin")
    .option("--key-kind <live|dev>", "prefix of platform keys", "live")
    .option("--engine <podman|docker>", "container engine of this host", "podman")
    .option("--uid-base <n>", "first of the numeric users of the processes", "64100")
    .option("--bucket-quota-gib <n>", "quota of a user's bucket", "500")
    .option("--yes", "do not ask before changing the host", false)
    .option("--dry-run", "verify and show the plan, change nothing", false);
  for (const [name, port] of Object.entries(DEFAULT_PORTS)) {
    command.option(`--port-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} <n>`, "", String(port));
  }
  return command;
}

/** The configuration that the flags describe. */
export function toConfig(flags: InstallFlags): ApplianceConfig {
  return {
    formatVersion: 1,
    instance: flags.instance,
    appliance: flags.appliance,
    customer: flags.customer,
    uidBase: Number(flags.uidBase),
    address: flags.address,
    name: flags.name,
    ports: {
      api: Number(flags.portApi),
      s3: Number(flags.portS3),
      registry: Number(flags.portRegistry),
      nats: Number(flags.portNats),
      keycloak: Number(flags.portKeycloak),
      keycloakManagement: Number(flags.portKeycloakManagement),
      postgres: Number(flags.portPostgres),
    },
    containerEngine: flags.engine === "podman" ? { kind: "podman" } : { kind: "docker", socket: "/var/run/docker.sock" },
    agent: { node: flags.node, cpuWorkers: flags.cpuWorkers === undefined ? null : Number(flags.cpuWorkers) },
    keyKind: flags.keyKind,
    bucketQuotaBytes: Number(flags.bucketQuotaGib) * 1024 ** 3,
  };
}

export function digestOf(config: ApplianceConfig): string {
  return createHash("sha256").update(JSON.stringify(config)).digest("hex");
}
