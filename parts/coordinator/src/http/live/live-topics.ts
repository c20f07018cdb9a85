/** What a caller may hear of a topic: the door's answer, as the feed takes it. */
import type { FeedTopic } from "@resontech/contracts/live-feed";
import type { FastifyRequest } from "fastify";
import { decide } from "../../authorization/decide.ts";
import type { Action, ResourceOf } from "../../authorization/actions.ts";
import type { Reach } from "../../feed/told.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { authorize, callerOfRequest } from "../authorization.ts";

/**
 * @throws ApiError with the door's refusal, logged where a policy refused; AuditUnavailable for a log: to read one is a fact before its first line
 */
export async function reachOfTopic(
  request: FastifyRequest,
  topic: FeedTopic,
  kernel: Pick<Kernel, "job">,
): Promise<Reach> {
  switch (topic.kind) {
    case "job":
      return await eitherOf(request, ["job.read", "job.state.read"], kernel.job(topic.job));
    case "log": {
      const { rows } = await authorize(request, "job.read", kernel.job(topic.job));
      await request.audit.fact({
        type: "data.log.read",
        object: { kind: "job", id: topic.job },
      });
      return { rows, shows: "everything" };
    }
    case "project":
    case "jobs":
      return await eitherOf(request, ["job.list", "job.state.list"], "rows");
    case "approvals":
      return {
        rows: (await authorize(request, "approval.list", "rows")).rows,
        shows: "everything",
      };
    case "findings":
      await authorize(request, "appliance.status", "every");
      return { rows: "all", shows: "everything" };
    case "nodes":
      return {
        rows: (await authorize(request, "node.list", "every")).rows,
        shows: "everything",
      };
  }
}

/** The first that is allowed: what was written into a job, else its states alone. */
async function eitherOf<A extends Action>(
  request: FastifyRequest,
  [whole, states]: readonly [A, A],
  asked: "rows" | ResourceOf<A> | null,
): Promise<Reach> {
  const verdict = decide(callerOfRequest(request), whole, asked);
  if (verdict.effect === "allow") return { rows: verdict.rows, shows: "everything" };
  return { rows: (await authorize(request, states, asked)).rows, shows: "states" };
}
