import type { JobPlacementReply } from "@resontech/contracts/http-queue";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { countOf } from "../../ui/count-of.ts";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { startSentence } from "../../ui/start-sentence.ts";
import { waitingSentence } from "../../ui/waiting-sentence.ts";
import { HolderTable } from "../queue/holder-table.tsx";
import { ScoreTable } from "./score-table.tsx";

const ASKED_EVERY_MS = 10_000;

/** Why the job waits, what comes before it, who holds what it could have, and until when. */
export function WaitPanel({ id }: { id: string }) {
  const placement = useQuery({
    queryKey: ["job", id, "placement"],
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/placement", { params: { id }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (placement.isPending) return <Skeleton rows={3} />;
  if (placement.isError && placement.data === undefined)
    return <Failure error={placement.error} retry={() => void placement.refetch()} />;
  const { wait } = placement.data;
  if (wait === null) return null;
  return (
    <Panel title="Why it waits">
      <Facts facts={factsOf(wait)} />
      {(wait.scores ?? []).length === 0 ? null : (
        <>
          <p>Places that would do, and how good each is now:</p>
          <ScoreTable
            scores={wait.scores ?? []}
            caption="How good each place that would do is now"
          />
        </>
      )}
      {wait.holders.length === 0 ? null : <HolderTable holders={wait.holders} />}
    </Panel>
  );
}

type Wait = NonNullable<JobPlacementReply["wait"]>;

function factsOf(wait: Wait): (readonly [string, string])[] {
  const { needs, needsEach, serving, workers, limit, guarantee, ahead, excluded } = wait;
  return [
    ["Expected start", startSentence(wait, Date.now())],
    [
      "Workers",
      `It takes ${needs}${needsEach === 1 ? "" : `, ${needsEach} of one model on one node for each member`}. Of ${countOf(workers, "worker")} ${serving} would do when they are free.`,
    ],
    ...(limit === null
      ? []
      : [
          [
            "Limit",
            `${limit.name} may hold at most ${limit.limit} of ${limit.model}, and holds ${limit.held}.${limit.isAlone ? " The job alone is more." : ""}`,
          ] as const,
        ]),
    ...(guarantee === "unset"
      ? []
      : [
          [
            "Guarantee",
            guarantee === "within"
              ? "Its project is guaranteed these workers, and others give them back."
              : "Its project would borrow them.",
          ] as const,
        ]),
    ...(ahead.length === 0
      ? []
      : [
          [
            "Before it",
            ahead
              .map(
                ({ project, jobs }) =>
                  `${countOf(jobs, "job")} of ${project?.name ?? "another project"}`,
              )
              .join(", "),
          ] as const,
        ]),
    ...(excluded.length === 0
      ? []
      : [
          [
            "Left out",
            waitingSentence(
              excluded.map(({ why, workers: count }) => `${count} ${why}`).join(", "),
            ) ?? "",
          ] as const,
        ]),
  ];
}
