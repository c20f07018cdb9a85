/** Why a job waits, or is where it is, as lines of a shell. Pure. */
import { amountWords } from "@resontech/contracts/amount-words";
import type {
  JobPlacementReply,
  PlaceScore,
  WorkerHolderReply,
} from "@resontech/contracts/http-queue";
import { scoreWords } from "@resontech/contracts/score-words";
import { age } from "../age.ts";
import { toldWithUnits } from "../size.ts";
import { startWords } from "./start-words.ts";

type Wait = NonNullable<JobPlacementReply["wait"]>;

/** Each fact with its name; a name that is empty goes on with the one before. */
export function placementFacts(
  { id, waitingFor, wait, placed }: JobPlacementReply,
  now: number,
): [string, string][] {
  return [
    ["job", id],
    ...(waitingFor === null ? [] : [["waits", toldWithUnits(waitingFor)] as [string, string]]),
    ...(wait === null ? [] : waitFacts(wait, now)),
    ...(placed === null
      ? []
      : [
          ...listed(
            "holds",
            placed.workers.map(({ worker, node, model }) => `${worker}, ${model} on ${node}`),
          ),
          ["since", `${age(placed.since, now)} ago`] as [string, string],
          ...listed("why here", placed.because),
          ...scoresListed("score now", placed.scores ?? []),
        ]),
  ];
}

export const HOLDER_HEAD = ["HELD BY", "CLASS", "WORKERS", "FOR", "ENDS BY ITSELF"];

export function holderRows(holders: readonly WorkerHolderReply[], now: number): string[][] {
  return holders.map(({ project, jobClass, workers, since, endsBy, isLeaving }) => [
    ...[project?.name ?? "another project", jobClass ?? "", amountWords(workers) ?? ""],
    ...[
      age(since, now),
      isLeaving
        ? "lets go now"
        : endsBy === null
          ? "states no end"
          : `in ${age(new Date(now).toISOString(), Date.parse(endsBy))} at the latest`,
    ],
  ]);
}

function waitFacts(wait: Wait, now: number): [string, string][] {
  const { serving, workers, needs, needsEach, limit, guarantee, ahead, excluded } = wait;
  return [
    ["starts", startWords(wait, now)],
    [
      "workers",
      `takes ${needs}${needsEach === 1 ? "" : `, ${needsEach} of one model on one node for each member`}; ${serving} of ${workers} would do when they are free`,
    ],
    ...(limit === null
      ? []
      : [
          [
            "limit",
            `${limit.name} may hold at most ${limit.limit} of ${limit.model}, and holds ${limit.held}${limit.isAlone ? ": the job alone is more" : ""}`,
          ] as [string, string],
        ]),
    ...(guarantee === "unset"
      ? []
      : [
          [
            "guarantee",
            guarantee === "within"
              ? "its project is guaranteed these workers, and others give them back"
              : "its project would borrow them",
          ] as [string, string],
        ]),
    ...listed(
      "before it",
      ahead.map(
        ({ project, jobs }) =>
          `${jobs} ${jobs === 1 ? "job" : "jobs"} of ${project?.name ?? "another project"}`,
      ),
    ),
    ...scoresListed("score now", wait.scores ?? []),
    ...listed(
      "left out",
      excluded.map(({ why, workers: count }) => `${count} ${toldWithUnits(why)}`),
    ),
  ];
}

function scoresListed(name: string, scores: readonly PlaceScore[]): [string, string][] {
  return listed(
    name,
    scores.map((one) => `${one.model} on ${one.node}: ${scoreWords(one)}`),
  );
}

function listed(name: string, texts: readonly string[]): [string, string][] {
  return texts.map((text, at) => [at === 0 ? name : "", text]);
}
