/** What the two kinds of hosts have in common: the one that an appliance is installed on, and one that joined it. */
import type { NodeConfig } from "@resontech/contracts/node-config";

export type HostKind = "appliance" | "node";

export type JobHost = Pick<
  NodeConfig,
  "instance" | "address" | "jobPorts" | "containerEngine" | "hostTools" | "cpuWorkers"
> & {
  kind: HostKind;
  /** Its name as a node; null: it runs no jobs. */
  node: string | null;
  jobUids?: NodeConfig["jobUids"];
  /** Where the appliance is. */
  appliance: { name: string; ports: { api: number; registry: number } };
  /** Of who vouches there for the doors of the appliance. */
  trustFile: string;
  /** Where the release's own programs of a host lie; null: the host's are used. */
  toolsHome: string | null;
};
