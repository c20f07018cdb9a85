/** What a host must have to be a node of an appliance. Pure: facts in, findings out. */
import type { NodeConfig } from "@resontech/contracts/node-config";
import {
  type Add,
  checkHost,
  checkJobUsers,
  type Finding,
  type HostFacts,
  type Wanted,
} from "./checks.ts";

export type NodeHostFacts = HostFacts & {
  /** Ports of the appliance that no connection could be made to. */
  unreached: readonly number[];
  /** Of the appliance's certificate for the API; null where it was not asked. */
  apiFailure: string | null;
  /** An appliance is installed below the root that was chosen. */
  isAppliance: boolean;
  /** What this host is a node of already, by the configuration that is there. */
  joinedAs: Pick<
    NodeConfig,
    "node" | "appliance" | "instance" | "containerEngine" | "hostTools"
  > | null;
};

export type WantedNode = Omit<Wanted, "config"> & { config: NodeConfig };

export function checkNode(facts: NodeHostFacts, wanted: WantedNode): Finding[] {
  const { config, ...others } = wanted;
  const findings: Finding[] = [];
  const add =
    (severity: Finding["severity"]): Add =>
    (id, ok, found, remedy) => {
      findings.push({ id, ok, severity, found, remedy });
    };
  const need = add("error");
  const warn = add("warning");
  checkHost(facts, { ...others, engine: config.containerEngine.kind }, { need, warn });
  checkIdentity(facts, config, need);
  checkWay(facts, config, need);
  checkJobUsers(facts, config.jobUids, [], need);
  return findings;
}

function checkIdentity(
  { isAppliance, joinedAs, instanceIsTaken }: NodeHostFacts,
  { node, instance, appliance, containerEngine }: NodeConfig,
  need: Add,
): void {
  need(
    "root-kind",
    !isAppliance,
    isAppliance ? "an appliance is installed there" : "no appliance",
    "choose another --root: an appliance's own host is a node already",
  );
  const isSame =
    joinedAs === null ||
    (joinedAs.node === node &&
      joinedAs.appliance.name === appliance.name &&
      joinedAs.instance === instance &&
      joinedAs.containerEngine.kind === containerEngine.kind);
  need(
    "joined-before",
    isSame,
    joinedAs === null
      ? "no node"
      : `node ${joinedAs.node} of ${joinedAs.appliance.name}, instance ${joinedAs.instance} on ${joinedAs.containerEngine.kind}`,
    "let the host leave first (join-node.sh --leave), or choose another --root and --instance",
  );
  need(
    "instance",
    !instanceIsTaken,
    instanceIsTaken ? `${instance} runs from another root` : `${instance} is free or ours`,
    "choose another --instance",
  );
}

function checkWay(facts: NodeHostFacts, config: NodeConfig, need: Add): void {
  const { name } = config.appliance;
  need(
    "name",
    facts.nameResolvesTo.length > 0,
    facts.nameResolvesTo.length === 0
      ? `${name} does not resolve`
      : `${name} → ${facts.nameResolvesTo.join(", ")}`,
    `make ${name} resolve to the appliance's address on this host (DNS or /etc/hosts)`,
  );
  need(
    "appliance-ports",
    facts.unreached.length === 0,
    facts.unreached.length === 0 ? "reached" : `not reached: ${facts.unreached.join(", ")}`,
    `open these ports of ${name} to this host: API, S3, registry and NATS`,
  );
  need(
    "appliance-certificate",
    facts.apiFailure === null,
    facts.apiFailure ?? "signed by the root that was compared",
    "compare the root certificate again: another host may answer under this name",
  );
  need(
    "address",
    facts.localAddresses.includes(config.address) && !config.address.startsWith("127."),
    `${config.address}; this host has ${facts.localAddresses.join(", ") || "none"}`,
    "give the address of this host that other nodes reach as --address",
  );
  const { from, to } = config.jobPorts;
  // Of a node that has joined they are its own agent's, which may outlive its supervisor.
  const taken = facts.joinedAs === null ? facts.jobPortsInUse : [];
  need(
    "job-ports",
    taken.length === 0 && from <= to,
    taken.length === 0 ? `${from}-${to}, free` : `${from}-${to}; taken: ${taken.join(", ")}`,
    "choose other --job-ports: a job over several nodes listens on one of them, for the other nodes alone",
  );
}
