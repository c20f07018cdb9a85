/**
 * How a node gets its next certificate, with a new key of its own. While its certificate is good it asks over the bus (`renew`). After its end it asks at
 * the door where hosts join, by a token that it signs itself with the key of the certificate that has ended.
 */
import { type Static, Type } from "typebox";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

export const RenewRequest = Type.Object(
  { nodeEpoch: Fence, csr: Type.String({ maxLength: 16_384 }) },
  closed,
);
export type RenewRequest = Static<typeof RenewRequest>;
/** Node certificate followed by the intermediate, PEM. The one before is void once the node has come with this one. */
export const RenewReply = Type.Object({ certChain: Type.String({ maxLength: 65_536 }) }, closed);
export type RenewReply = Static<typeof RenewReply>;

/** So long after its end a certificate still admits its holder to the next one. */
export const RENEWAL_GRACE_MS = 90 * 86_400_000;
