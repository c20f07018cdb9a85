/** What the operator may choose: flags of install.sh, or the same names in an answers file; the help text is made from these. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import type { Command } from "commander";
import { Value } from "typebox/value";
import { isRootPath } from "./root-path.ts";
import { InstallRequest } from "./request.ts";

export type InstallFlags = {
  bundle: string;
  key: string;
  answers?: string;
  root: string;
  instance: string;
  name: string;
  address: string;
  appliance: string;
  customer: string;
  node: string;
  cpuWorkers?: string;
  username: string;
  keyKind: string;
  engine: string;
  hostTools: string;
  uidBase: string;
  bucketQuotaGib: string;
  jobPorts: string;
  jobUids: string;
  outputExport: string;
  yes: boolean;
  dryRun: boolean;
  allowOlder: boolean;
  trustKey?: string;
} & Record<PortFlag, string>;

type PortFlag = `port${Capitalize<keyof typeof DEFAULT_PORTS>}`;

/** An option is missing, unknown or can't be used; `message` names it. */
export class OptionInvalidError extends Error {
  readonly code = "option_invalid";
}

export const ALLOW_OLDER =
  "install a release that is older than the installed one, or was not made to follow it";
export const DEFAULT_ROOT = "/opt/resontech";

const dashed = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function addInstallOptions(command: Command): Command {
  command
    .requiredOption("--bundle <dir>", "the bundle folder (install.sh gives it)")
    .requiredOption("--key <file>", "PEM of the bundle's public key (install.sh gives it)")
    .option(
      "--answers <file>",
      'JSON object of these options, e.g. {"name":"gpu.example","cpu-workers":4}; flags win',
    )
    .option("--root <dir>", "where to install", DEFAULT_ROOT)
    .option("--instance <slug>", "name of this appliance on this host", "default")
    .option("--name <name>", "the one DNS name that clients and nodes use", "localhost")
    .option("--address <ip>", "address of the perimeter", "127.0.0.1")
    .option("--appliance <slug>", "appliance label in the audit log's origin", "appliance")
    .option("--customer <slug>", "customer label in the audit log's origin", "customer")
    .option("--node <slug>", "name of this host as a node", hostSlug())
    .option(
      "--cpu-workers <n>",
      "slots of processors on this host (default: one per core, none beside accelerators)",
    )
    .option("--username <name>", "login of the first researcher", "researcher")
    .option("--key-kind <live|dev>", "prefix of platform keys", "live")
    .option("--engine <podman|docker>", "container engine of this host", "podman")
    .option(
      "--host-tools <auto|host|bundle>",
      "whose podman, nft, mount and the like are called; auto: the host's where it has them all",
      "auto",
    )
    .option("--uid-base <n>", "first of the numeric users of the processes", "64100")
    .option(
      "--job-ports <from-to>",
      "ports of the perimeter address for jobs over several nodes",
      `${DEFAULT_JOB_PORTS.from}-${DEFAULT_JOB_PORTS.to}`,
    )
    .option(
      "--job-uids <from-to>",
      "numeric users of jobs, each member's its own",
      `${DEFAULT_JOB_UIDS.from}-${DEFAULT_JOB_UIDS.to}`,
    )
    .option("--bucket-quota-gib <n>", "quota of a user's bucket", "500")
    .option(
      "--output-export <open|controlled>",
      "whether a user's own key may fetch models that jobs made",
      "open",
    )
    .option("--yes", "do not ask before changing the host", false)
    .option("--dry-run", "verify and show the plan, change nothing", false)
    .option("--allow-older", ALLOW_OLDER, false)
    .option(
      "--trust-key <sha256>",
      "take a bundle that another key of the vendor has signed: its SHA-256, had on another channel",
    );
  for (const [name, port] of Object.entries(DEFAULT_PORTS))
    command.option(`--port-${dashed(name)} <n>`, `port of ${dashed(name)}`, String(port));
  return command;
}

/**
 * Takes what the answers file says for every option that the command line left at its default.
 *
 * @throws OptionInvalidError naming an option that there is not, or that is no text, number or boolean
 */
export function applyAnswers(command: Command): void {
  const file: unknown = command.getOptionValue("answers");
  if (typeof file !== "string") return;
  let answers: unknown;
  try {
    answers = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new OptionInvalidError(
      `--answers ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (typeof answers !== "object" || answers === null || Array.isArray(answers))
    throw new OptionInvalidError(`--answers ${file}: it must be one JSON object`);
  const never = new Set(["bundle", "key", "answers"]);
  for (const [name, value] of Object.entries(answers) as [string, unknown][]) {
    const option = command.options.find((candidate) => candidate.long === `--${name}`);
    if (option === undefined || never.has(name))
      throw new OptionInvalidError(`--answers ${file}: there is no option ${name}`);
    const isFlag = option.isBoolean();
    if (
      isFlag ? typeof value !== "boolean" : typeof value !== "string" && typeof value !== "number"
    )
      throw new OptionInvalidError(
        `--answers ${file}: ${name} must be ${isFlag ? "true or false" : "a text or a number"}`,
      );
    const key = option.attributeName();
    if (command.getOptionValueSource(key) === "cli") continue;
    command.setOptionValueWithSource(key, isFlag ? value : String(value), "config");
  }
}

/**
 * Of an appliance that is installed, what neither the command line nor the answers file says stays as it is.
 *
 * @param installed what its last install was asked for
 */
export function applyInstalled(command: Command, installed: InstallRequest | null): void {
  if (installed === null) return;
  for (const [key, value] of Object.entries(flagsOf(installed)))
    if (
      command.getOptionValueSource(key) === "default" ||
      command.getOptionValue(key) === undefined
    )
      command.setOptionValueWithSource(key, value, "config");
}

/** The way back of {@link toConfig}: the flags that a configuration comes of. Whose tools are called is kept by reconcileHostTools. */
function flagsOf({ username, config }: InstallRequest): Record<string, string> {
  const { instance, appliance, customer, address, name, ports, agent, containerEngine } = config;
  const { jobPorts, jobUids } = config;
  const portFlags = Object.entries(ports).map(([port, number]) => [
    `port${port[0]!.toUpperCase()}${port.slice(1)}`,
    String(number),
  ]);
  return {
    ...{ username, instance, appliance, customer, address, name, keyKind: config.keyKind },
    ...Object.fromEntries(portFlags),
    engine: containerEngine.kind,
    uidBase: String(config.uidBase),
    bucketQuotaGib: String(config.bucketQuotaBytes / 1024 ** 3),
    ...(config.outputExport === undefined ? {} : { outputExport: config.outputExport }),
    ...(jobPorts === undefined ? {} : { jobPorts: `${jobPorts.from}-${jobPorts.to}` }),
    ...(jobUids === undefined ? {} : { jobUids: `${jobUids.from}-${jobUids.to}` }),
    ...(agent === null ? {} : { node: agent.node }),
    ...(agent?.cpuWorkers == null ? {} : { cpuWorkers: String(agent.cpuWorkers) }),
  };
}

/** @throws OptionInvalidError naming the first option that can't be used */
export function toRequest(flags: InstallFlags): InstallRequest {
  const root = resolve(flags.root);
  if (!isRootPath(root))
    throw new OptionInvalidError(
      `--root ${root}: it must be a path of at most 160 letters, digits and . _ - /`,
    );
  const config = toConfig(flags);
  const wrong = Value.Errors(ApplianceConfig, config)[0];
  if (wrong !== undefined)
    throw new OptionInvalidError(`--${flagOf(wrong.instancePath)}: ${wrong.message}`);
  if (!isConfig(config)) throw new OptionInvalidError("the options describe no configuration");
  const { username } = flags;
  if (!isUsername(username))
    throw new OptionInvalidError(
      `--username ${flags.username}: 2 to 32 lower-case letters, digits and . _ -, a letter first, a letter or digit last`,
    );
  return {
    bundle: resolve(flags.bundle),
    keyPem: readFileSync(flags.key, "utf8"),
    root,
    username,
    config,
  };
}

function isUsername(text: string): boolean {
  return Value.Check(InstallRequest.properties.username, text);
}

function isConfig(value: unknown): value is ApplianceConfig {
  return Value.Check(ApplianceConfig, value);
}

function toConfig(flags: InstallFlags): unknown {
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
      prometheus: Number(flags.portPrometheus),
    },
    jobPorts: toRange(flags.jobPorts),
    jobUids: toRange(flags.jobUids),
    containerEngine:
      flags.engine === "docker"
        ? { kind: "docker", socket: "/var/run/docker.sock" }
        : { kind: flags.engine },
    ...(flags.hostTools === "auto" ? {} : { hostTools: flags.hostTools }),
    agent: {
      node: flags.node,
      cpuWorkers: flags.cpuWorkers === undefined ? null : Number(flags.cpuWorkers),
    },
    keyKind: flags.keyKind,
    bucketQuotaBytes: Number(flags.bucketQuotaGib) * 1024 ** 3,
    outputExport: flags.outputExport,
  };
}

/** Reads `FROM-TO`; null for what is no range; the schema then names the flag. */
export function toRange(text: string): { from: number; to: number } | null {
  const [, from, to] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  return from === undefined || to === undefined || Number(from) > Number(to)
    ? null
    : { from: Number(from), to: Number(to) };
}

/** `/ports/keycloakManagement` → `port-keycloak-management`: the flag behind a key of the configuration. */
function flagOf(path: string): string {
  const [first = "", second = ""] = path.slice(1).split("/");
  if (first === "ports") return `port-${dashed(second)}`;
  if (first === "containerEngine") return "engine";
  if (first === "agent") return dashed(second);
  return first === "bucketQuotaBytes" ? "bucket-quota-gib" : dashed(first);
}

function hostSlug(): string {
  const slug = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, "");
  return slug === "" ? "node" : slug;
}
