/**
 * `<root>/etc/outbound.json`: hosts outside that the inference gateway may dial, as `appliance outbound` sets it. Root's, readable by the gateway.
 * No secret is in it. A host that is not in it is dialled by nobody.
 */
import { OutboundName } from "@resontech/contracts/outbound-name";
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;

export const HTTPS_PORT = 443;

export const OutboundHost = Type.Object(
  {
    host: OutboundName,
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    /** CIDR. Its addresses must lie in one of these. Absent: a name's addresses are public ones, an address is itself. */
    networks: Type.Optional(
      Type.Array(Type.String({ maxLength: 49 }), { minItems: 1, maxItems: 16 }),
    ),
    /** Who vouches for the host, PEM. Absent: the public authorities and the appliance's root. */
    ca: Type.Optional(Type.String({ maxLength: 65_536 })),
  },
  closed,
);
export type OutboundHost = Static<typeof OutboundHost>;

export const OutboundHosts = Type.Object(
  { formatVersion: Type.Literal(1), hosts: Type.Array(OutboundHost, { maxItems: 256 }) },
  closed,
);
export type OutboundHosts = Static<typeof OutboundHosts>;
