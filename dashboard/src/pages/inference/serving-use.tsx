import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import { WordChoice } from "../../ui/word-choice.tsx";
import { zoneName } from "../../ui/instants.ts";
import { Empty, Failure, Warning } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Words } from "../../ui/words.tsx";
import { figuresOfServing } from "./serving-plots.ts";

const SPANS = ["1 h", "6 h", "24 h", "7 days"] as const;
type Span = (typeof SPANS)[number];
const HOUR_MS = 3_600_000;
const SPAN_MS: Record<Span, number> = {
  ...{ "1 h": HOUR_MS, "6 h": 6 * HOUR_MS, "24 h": 24 * HOUR_MS, "7 days": 168 * HOUR_MS },
};
const ASKED_EVERY_MS = 30_000;

/** How much was it called, and how fast did it answer? */
export function ServingUse({ id }: { id: string }) {
  const [span, setSpan] = useState<Span>("1 h");
  const use = useQuery({
    queryKey: ["deployment-use", id, span],
    queryFn: ({ signal }) => {
      const to = Date.now();
      return ask("GET", "/api/inference/jobs/{id}/use", {
        ...{ params: { id }, query: { from: to - SPAN_MS[span], to }, signal },
      });
    },
    refetchInterval: ASKED_EVERY_MS,
    placeholderData: (before) => before,
  });
  const choice = <WordChoice label="Time shown" options={SPANS} chosen={span} onChoose={setSpan} />;
  if (use.isPending) return <Skeleton rows={4} />;
  if (use.isError) {
    const { code, message, hint } = asProblem(use.error);
    if (code !== "figures_away")
      return <Failure error={use.error} retry={() => void use.refetch()} />;
    // All else on the page is as it should be.
    return (
      <Warning>
        <p>{message}</p>
        <p>
          <Words text={hint} />
        </p>
      </Warning>
    );
  }
  const figures = figuresOfServing(use.data);
  if (figures.length === 0)
    return (
      <>
        {choice}
        <Empty title="Nothing was told in this time">
          <p>Curves begin some seconds after the first call.</p>
        </Empty>
      </>
    );
  return (
    <ChartGroup
      isSmall
      tools={choice}
      about={`Times are of ${zoneName()}. Kept ${use.data.keptDays} days.`}
    >
      {figures.map((figure) => (
        <ChartFigure key={figure.title} {...figure} of="What" axis="time" />
      ))}
    </ChartGroup>
  );
}
