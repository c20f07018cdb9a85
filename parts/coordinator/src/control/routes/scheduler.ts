/** Plans of the scheduler: those that were recorded, and how they come out when they are made again. */
import type { PlanFacts } from "@resontech/contracts/operator-scheduler";
import type { FastifyInstance } from "fastify";
import type { PlanRecorder } from "../../kernel/plan-recorder.ts";
import type { PlanReplays, RecordedPlan } from "../../kernel/plan-replays.ts";
import { answerOperator } from "../answer-operator.ts";
import { idThatBegins } from "../decisions/id-that-begins.ts";

export type OperatorSchedulerDeps = {
  planReplays: Pick<PlanReplays, "list" | "replay">;
  planRecorder: Pick<PlanRecorder, "state">;
  version: string;
};

export async function operatorSchedulerRoutes(
  app: FastifyInstance,
  { planReplays, planRecorder, version }: OperatorSchedulerDeps,
): Promise<void> {
  answerOperator(
    app,
    "plan-list",
    { action: "job.state.list", audit: { none: "status" } },
    async ({ limit, job = null }) => {
      const { plans, unread } = await planReplays.list(limit, job);
      return { recording: planRecorder.state, plans: plans.map(planFacts), unread };
    },
  );

  answerOperator(
    app,
    "plan-replay",
    { action: "job.state.read", audit: { none: "status" } },
    async ({ plan, job }) => {
      const jobIn =
        job === undefined
          ? null
          : (jobs: ReadonlySet<string>) =>
              idThatBegins([...jobs], job, {
                what: `job in plan ${plan}`,
                list: "appliance scheduler plans --job JOB",
              });
      const { recorded, replayed, isSame, job: told } = await planReplays.replay(plan, jobIn);
      return {
        ...{ plan: planFacts(recorded), replayedBy: version, isSame },
        replayed: isSame ? null : copied(replayed),
        job: told === null ? null : { job: told.id, told: told.told },
      };
    },
  );
}

function planFacts({ number, at, decisions, ...facts }: RecordedPlan): PlanFacts {
  return { plan: number, at: new Date(at).toISOString(), ...facts, decisions: copied(decisions) };
}

function copied({
  placements,
  replacements,
  preemptions,
  reserved,
}: RecordedPlan["decisions"]): PlanFacts["decisions"] {
  return {
    ...{ placements: [...placements], replacements: [...replacements] },
    ...{ preemptions: [...preemptions], reserved: [...reserved] },
  };
}
