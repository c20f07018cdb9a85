/** What `join-node.sh` may be told, and what it is told by the command that the appliance printed. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readNodeConfig } from "@resontech/appliance/node-context";
import { NodeConfig } from "@resontech/contracts/node-config";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import type { Command } from "commander";
import { Value } from "typebox/value";
import { OptionInvalidError, toRange } from "../options.ts";
import { isRootPath } from "../root-path.ts";
import { DEFAULT_NODE_ROOT, isNode } from "../node-root.ts";

const DEFAULT_INSTANCE = "node";

export type JoinFlags = {
  source: string;
  key: string;
  rootCert: string;
  appliance: string;
  ports: string;
  node: string;
  root: string;
  instance?: string;
  address?: string;
  jobPorts?: string;
  jobUids?: string;
  engine?: string;
  cpuWorkers?: string;
  tokenFile?: string;
  dryRun: boolean;
  json: boolean;
};

/** Everything that one join was asked for. */
export type JoinRequest = {
  source: string;
  keyPem: string;
  rootCertPem: string;
  root: string;
  config: NodeConfig;
  /** `-` is standard input; null: the person at the terminal is asked. */
  tokenFile: string | null;
};

export function addJoinOptions(command: Command): Command {
  return command
    .requiredOption("--source <url|dir>", "where the release's files are (join-node.sh gives it)")
    .requiredOption("--key <file>", "PEM of the release's public key (join-node.sh gives it)")
    .requiredOption(
      "--root-cert <file>",
      "the appliance's root certificate (join-node.sh gives it)",
    )
    .requiredOption("--appliance <name>", "the appliance's one DNS name")
    .requiredOption("--ports <api,s3,registry,nats>", "its perimeter ports")
    .requiredOption("--node <slug>", "name of this host as a node")
    .option("--root-sha256 <hex>", "SHA-256 of the root certificate's file")
    .option("--key-sha256 <hex>", "SHA-256 of the release key's file")
    .option("--root <dir>", "where to install", DEFAULT_NODE_ROOT)
    .option("--instance <slug>", `name of this install on this host (default: ${DEFAULT_INSTANCE})`)
    .option(
      "--address <ip>",
      "address that other nodes reach this host at (default: the one towards the appliance)",
    )
    .option(
      "--job-ports <from-to>",
      `ports of that address for jobs over several nodes (default: ${DEFAULT_JOB_PORTS.from}-${DEFAULT_JOB_PORTS.to})`,
    )
    .option(
      "--job-uids <from-to>",
      `numeric users of jobs, each member's its own (default: ${DEFAULT_JOB_UIDS.from}-${DEFAULT_JOB_UIDS.to})`,
    )
    .option("--engine <podman|docker>", "container engine of this host (default: podman)")
    .option(
      "--cpu-workers <n>",
      "slots of processors on this host (default: one per core, none beside accelerators)",
    )
    .option(
      "--token-file <file>",
      "file with the join token, - for standard input; asked for unless given",
    )
    .option("--dry-run", "verify and look at the host, change nothing", false)
    .option("--json", "end with one JSON line", false)
    .option("--leave", "take away all that joining made (read by join-node.sh)", false)
    .option("--yes", "with --leave: do not ask", false);
}

/**
 * What is not said stays as an earlier run below the same root was told.
 * @throws OptionInvalidError naming the first option that can't be used
 */
export async function toJoinRequest(flags: JoinFlags): Promise<JoinRequest> {
  const root = resolve(flags.root);
  if (!isRootPath(root))
    throw new OptionInvalidError(
      `--root ${root}: it must be a path of at most 160 letters, digits and . _ - /`,
    );
  const [api, s3, registry, nats, ...more] = flags.ports.split(",").map(Number);
  if (more.length > 0 || nats === undefined)
    throw new OptionInvalidError(
      `--ports ${flags.ports}: four ports are meant: api,s3,registry,nats`,
    );
  const kept = isNode(root) ? readNodeConfig(root) : null;
  const config = {
    formatVersion: 1,
    node: flags.node,
    instance: flags.instance ?? kept?.instance ?? DEFAULT_INSTANCE,
    appliance: { name: flags.appliance, ports: { api, s3, registry, nats } },
    address: flags.address ?? kept?.address ?? (await addressTowards(flags.appliance)),
    jobPorts:
      flags.jobPorts === undefined
        ? (kept?.jobPorts ?? DEFAULT_JOB_PORTS)
        : toRange(flags.jobPorts),
    jobUids:
      flags.jobUids === undefined ? (kept?.jobUids ?? DEFAULT_JOB_UIDS) : toRange(flags.jobUids),
    containerEngine:
      flags.engine === undefined
        ? (kept?.containerEngine ?? { kind: "podman" })
        : engineOf(flags.engine),
    cpuWorkers:
      flags.cpuWorkers === undefined ? (kept?.cpuWorkers ?? null) : Number(flags.cpuWorkers),
  };
  const wrong = Value.Errors(NodeConfig, config)[0];
  if (wrong !== undefined || !Value.Check(NodeConfig, config))
    throw new OptionInvalidError(`--${flagOf(wrong?.instancePath ?? "")}: ${wrong?.message ?? ""}`);
  return {
    ...{ source: flags.source, root, config, tokenFile: flags.tokenFile ?? null },
    keyPem: readFileSync(flags.key, "utf8"),
    rootCertPem: readFileSync(flags.rootCert, "utf8"),
  };
}

/** One that there is not is for the schema to refuse. */
function engineOf(kind: string): { kind: string; socket?: string } {
  return kind === "docker" ? { kind, socket: "/var/run/docker.sock" } : { kind };
}

function flagOf(path: string): string {
  const [first = "", second = ""] = path.slice(1).split("/");
  if (second === "ports") return "ports";
  const names: Readonly<Record<string, string>> = {
    containerEngine: "engine",
    jobPorts: "job-ports",
    jobUids: "job-uids",
    cpuWorkers: "cpu-workers",
  };
  return names[first] ?? first;
}

/** The address of this host that its packets to the appliance carry; nothing is sent. Loopback where there is no way. */
async function addressTowards(name: string): Promise<string> {
  const socket = createSocket("udp4");
  try {
    socket.connect(9, name);
    await once(socket, "connect");
    return socket.address().address;
  } catch {
    return "127.0.0.1";
  } finally {
    socket.close();
  }
}
