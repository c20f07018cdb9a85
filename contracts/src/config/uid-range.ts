import { type Static, Type } from "typebox";

const Uid = Type.Integer({ minimum: 1000, maximum: 4_294_967_000 });

/** Both ends belong to it; that `from` is not above `to` is asserted where it is read. */
export const UidRange = Type.Object({ from: Uid, to: Uid }, { additionalProperties: false });
export type UidRange = Static<typeof UidRange>;

/**
 * Users of jobs unless chosen otherwise: in the range that nobody gives out (https://systemd.io/UIDS-GIDS), and more than a node has members,
 * so that one is not soon used again.
 */
export const DEFAULT_JOB_UIDS: UidRange = { from: 1_900_000_000, to: 1_900_065_535 };
