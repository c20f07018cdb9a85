/** How a node brings the release of its appliance: what it is told by beats, what it tells, and what its installer keeps of it. */
import { type Static, Type } from "typebox";
import { ReleaseName } from "../release/release-name.ts";
import { Id } from "./agent-fields.ts";
import { closed } from "../closed.ts";

export const MAX_UPGRADE_WORDS = 512;

const Failure = Type.Object(
  {
    code: Type.String({ maxLength: 64, pattern: "^[a-z0-9_]+$" }),
    /** One line, for people. */
    message: Type.String({ maxLength: MAX_UPGRADE_WORDS, pattern: "^[^\\p{Cc}]*$" }),
  },
  closed,
);

/** The node is to have this release. The same order is carried out once; whoever wants it again orders anew. */
export const UpgradeRequest = Type.Object({ order: Id, release: ReleaseName }, closed);
export type UpgradeRequest = Static<typeof UpgradeRequest>;

/** The order was not carried out, and the release before runs. */
export const UpgradeFailure = Type.Object({ order: Id, ...Failure.properties }, closed);
export type UpgradeFailure = Static<typeof UpgradeFailure>;

/**
 * `upgrade.json` in the agent's folder, written by the node's installer. `switching`: the node goes to `to`; `returning`: it goes back to
 * `from`, because of the failure; `done` and `failed` are ends. A cut leaves one of the first two, and the next run goes on from there.
 */
export const NodeUpgrade = Type.Object(
  {
    order: Id,
    from: ReleaseName,
    to: ReleaseName,
    state: Type.Enum(["switching", "returning", "done", "failed"]),
    failure: Type.Union([Failure, Type.Null()]),
  },
  closed,
);
export type NodeUpgrade = Static<typeof NodeUpgrade>;

/** Below the agent's folder. */
export const NODE_UPGRADE_FILE = "upgrade.json";

export function isUpgradeOpen({ state }: Pick<NodeUpgrade, "state">): boolean {
  return state === "switching" || state === "returning";
}
