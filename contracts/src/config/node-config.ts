/** `<root>/etc/node.json`: what a host that joined an appliance was told. Its agent's own configuration is derived from it at each start. */
import { type Static, Type } from "typebox";
import { ApplianceConfig, Slug } from "./appliance-config.ts";
import { PortRange } from "./port-range.ts";
import { UidRange } from "./uid-range.ts";
import { closed } from "../closed.ts";

const Port = Type.Integer({ minimum: 1, maximum: 65535 });

export const NodeConfig = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** Name of this host as a node of the appliance. */
    node: Slug,
    /** Names `/run/resontech/<instance>/`, the container engine's state and networks; two instances may share a host. */
    instance: Slug,
    /** Where the appliance is: the name that it signs URLs for, and its perimeter ports. */
    appliance: Type.Object(
      {
        name: ApplianceConfig.properties.name,
        ports: Type.Object({ api: Port, s3: Port, registry: Port, nats: Port }, closed),
      },
      closed,
    ),
    /** IPv4 address that the other nodes reach this one at. */
    address: ApplianceConfig.properties.address,
    jobPorts: PortRange,
    jobUids: UidRange,
    containerEngine: ApplianceConfig.properties.containerEngine,
    hostTools: ApplianceConfig.properties.hostTools,
    /** Slots of a host without an accelerator; null: one for each core. */
    cpuWorkers: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  },
  closed,
);
export type NodeConfig = Static<typeof NodeConfig>;
