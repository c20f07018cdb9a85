import type { PlaceScore } from "@resontech/contracts/http-queue";
import { SCORE_FACTORS } from "@resontech/contracts/score-words";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";

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
        <Table
          caption="How good each place is now"
          columns={COLUMNS}
          rows={scores}
          keyOf={({ node, model }) => `${node} ${model}`}
        />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<PlaceScore>[] = [
  { title: "Node", of: ({ node }) => node, narrow: "main" },
  { title: "Model", of: ({ model }) => model, narrow: "own" },
  { title: "Score", of: ({ score }) => decimals(score), isNumber: true, narrow: "own" },
  ...SCORE_FACTORS.map((name): Column<PlaceScore> => {
    const valueOf = ({ factors }: PlaceScore) =>
      factors.find(({ factor }) => factor === name)?.value ?? null;
    return {
      title: sentenceCase(name),
      of: (place) => {
        const value = valueOf(place);
        return value === null ? "unknown" : decimals(value);
      },
      isNumber: true,
      narrow: "details",
    };
  }),
];

/** Never the 0 that no factor is. */
function decimals(value: number): string {
  return String(Math.max(0.001, Math.round(value * 1_000) / 1_000));
}
