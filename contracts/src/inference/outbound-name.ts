import { Type } from "typebox";

/** A host as a URL spells it: lower case, a name in ASCII or an address, IPv6 without brackets. */
export const OutboundName = Type.String({ pattern: "^[a-z0-9:][a-z0-9._:-]{0,252}$" });
