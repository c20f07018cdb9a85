import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { FastifyRequest } from "fastify";
import type { GroupCommit } from "../db/group-commit.ts";

/** Changes a node on record; `apply` runs in the commit of the outcome. */
export async function changeNode(
  request: FastifyRequest,
  commit: GroupCommit,
  { node, ...detail }: { node: string } & EventDetail<"iam.node.change">,
  apply: () => void,
): Promise<void> {
  await request.audit.operation(
    { type: "iam.node.change", object: { kind: "node", id: node }, detail },
    ({ completeIn }) =>
      commit.run((db) => {
        apply();
        completeIn(db);
      }),
  );
}
