import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { ScoreTable } from "./score-table.tsx";

const ASKED_EVERY_MS = 30_000;

/** Why the job is where it is, and how good each place is now, factor by factor. */
export function PlacePanel({ id }: { id: string }) {
  const placement = useQuery({
    queryKey: ["job", id, "placement"],
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/placement", { params: { id }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (placement.isPending) return <Skeleton rows={2} />;
  if (placement.isError && placement.data === undefined)
    return <Failure error={placement.error} retry={() => void placement.refetch()} />;
  const { placed } = placement.data;
  if (placed === null) return null;
  const scores = placed.scores ?? [];
  return (
    <Panel title="Why it is here">
      {placed.because.map((why) => (
        <p key={why}>{sentenceCase(why)}.</p>
      ))}
      {scores.length === 0 ? null : (
        <ScoreTable scores={scores} caption="How good each place is now" />
      )}
    </Panel>
  );
}
