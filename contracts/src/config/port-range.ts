import { type Static, Type } from "typebox";

const Port = Type.Integer({ minimum: 1, maximum: 65535 });

/** Both ends belong to it; that `from` is not above `to` is asserted where it is read. */
export const PortRange = Type.Object({ from: Port, to: Port }, { additionalProperties: false });
export type PortRange = Static<typeof PortRange>;

/** Job ports unless chosen otherwise: below the ports that kernels give to clients, and a hundred attempts a node. */
export const DEFAULT_JOB_PORTS: PortRange = { from: 29_000, to: 29_099 };
