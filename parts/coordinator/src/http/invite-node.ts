import type { FastifyRequest } from "fastify";
import { instant } from "./decisions/job-replies.ts";
import { requireNodeId } from "../nodes/join-tokens.ts";

/** Makes a one-use token for a node, stored as its hash. `expiresAt` in Unix milliseconds. */
export type MakeJoinToken = (
  node: string,
  ttlS: number,
) => Promise<{ token: string; expiresAt: number }>;

/** @throws ApiError for what can't name a node */
export async function inviteNode(
  request: FastifyRequest,
  make: MakeJoinToken,
  { node, ttlS }: { node: string; ttlS: number },
): Promise<{ token: string; expiresAt: string }> {
  requireNodeId(node);
  const { token, expiresAt } = await request.audit.operation(
    {
      type: "iam.node.join-token",
      object: { kind: "node", id: node },
      detail: { ttl_s: ttlS },
    },
    () => make(node, ttlS),
  );
  return { token, expiresAt: instant(expiresAt) };
}
