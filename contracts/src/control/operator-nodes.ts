/** Nodes: what an administrator may do as well, by the same routes, and what the host's root alone may. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { NodeChangedReply, NodeDetailReply, NodeReply } from "../http/http-nodes.ts";
import { AskedName, Nothing, operatorRoute } from "./operator-route.ts";

export type NodeFacts = NodeReply;
export type NodeWorkerFacts = NodeDetailReply["workers"][number];

/** How a node's order to bring the appliance's release stands. */
export const NodeUpgradeFacts = Type.Object(
  {
    order: Type.String(),
    release: Type.String(),
    /** `begun`: told, and neither there nor failed. A node that failed runs what it ran before. */
    state: Type.Enum(["waiting", "begun", "done", "failed"]),
    /** From 0; a wave begins once the one before is done. */
    wave: Type.Integer(),
    failed: Nullable(Type.Object({ code: Type.String(), message: Type.String() }, closed)),
    /** Of a node that has not begun. `itself`: it does not answer, and catches up when it is back. */
    waitsFor: Nullable(Type.Enum(["itself", "its turn", "nothing, for another failed"])),
  },
  closed,
);
export type NodeUpgradeFacts = Static<typeof NodeUpgradeFacts>;

/** @property release what it runs; null where it does not say: its release is older than this, or it is the appliance's own host */
export const NodeReleaseFacts = Type.Object(
  {
    node: Type.String(),
    release: Nullable(Type.String()),
    upgrade: Nullable(NodeUpgradeFacts),
  },
  closed,
);
export type NodeReleaseFacts = Static<typeof NodeReleaseFacts>;

const OfNode = Type.Object({ id: IdParam }, closed);
const Names = Type.Array(Type.String());

export const NODE_ROUTES = {
  "join-token": operatorRoute({
    ...{ method: "POST", path: "/api/operator/nodes/tokens" },
    body: Type.Object(
      { node: AskedName, ttlS: Type.Integer({ minimum: 1, maximum: 86_400 }) },
      closed,
    ),
    answer: Type.Object({ token: Type.String(), expiresAt: Instant }, closed),
  }),
  "node-list": operatorRoute({
    ...{ method: "GET", path: "/api/nodes" },
    answer: Type.Array(NodeReply),
  }),
  /** Which release each node runs, and how its order to bring another stands. */
  "node-releases": operatorRoute({
    ...{ method: "GET", path: "/api/operator/nodes/releases" },
    answer: Type.Object({ releases: Type.Array(NodeReleaseFacts) }, closed),
  }),
  "node-show": operatorRoute({
    ...{ method: "GET", path: "/api/nodes/:id", params: OfNode },
    answer: NodeDetailReply,
  }),
  /** Nothing new is placed there; what runs there runs to its end. */
  "node-drain": operatorRoute({
    ...{ method: "POST", path: "/api/nodes/:id/drain", params: OfNode },
    answer: NodeChangedReply,
  }),
  "node-undrain": operatorRoute({
    ...{ method: "POST", path: "/api/nodes/:id/undrain", params: OfNode },
    answer: NodeChangedReply,
  }),
  /** What runs there ends, and its jobs go on elsewhere. */
  "node-evict": operatorRoute({
    ...{ method: "POST", path: "/api/operator/nodes/:id/evict", params: OfNode },
    answer: NodeChangedReply,
  }),
  /** Its certificate is void; refused while the node lives and holds something. */
  "node-remove": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/nodes/:id", params: OfNode },
    answer: Nothing,
  }),
  /** They bring the appliance's own release: one first, then waves. It takes the place of every earlier order. */
  "node-upgrade": operatorRoute({
    ...{ method: "POST", path: "/api/operator/nodes/upgrades" },
    body: Type.Object(
      {
        /** Null: every node. */
        nodes: Nullable(Type.Array(AskedName, { minItems: 1, maxItems: 4_096 })),
        except: Type.Array(AskedName, { maxItems: 4_096 }),
      },
      closed,
    ),
    answer: Type.Object(
      {
        /** What the nodes bring: the appliance's own. */
        release: Type.String(),
        /** Ordered, or under way by an earlier order. */
        ordered: Names,
        /** They have it. */
        current: Names,
        /** They can't be told. */
        leftOut: Type.Array(Type.Object({ node: Type.String(), why: Type.String() }, closed)),
      },
      closed,
    ),
  }),
} as const;
