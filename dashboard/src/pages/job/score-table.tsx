import type { PlaceScore } from "@resontech/contracts/http-queue";
import { SCORE_FACTORS } from "@resontech/contracts/score-words";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { type Column, Table } from "../../ui/table.tsx";

/** How good places are, factor by factor. */
export function ScoreTable({
  scores,
  caption,
}: {
  scores: readonly PlaceScore[];
  caption: string;
}) {
  return (
    <Table
      caption={caption}
      columns={COLUMNS}
      rows={scores}
      keyOf={({ node, model }) => `${node} ${model}`}
    />
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
