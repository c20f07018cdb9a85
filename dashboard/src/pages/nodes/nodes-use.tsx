import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { zoneName } from "../../ui/instants.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Words } from "../../ui/words.tsx";
import { figuresOfUse } from "../job/use-plots.ts";

const ASKED_EVERY_MS = 60_000;

/** How busy devices, processors, memory and disks were in the last day. @param node absent: all nodes */
export function NodesUse({ node }: { node?: string }) {
  const use = useQuery({
    queryKey: ["use", node],
    queryFn: ({ signal }) =>
      node === undefined
        ? ask("GET", "/api/use", { signal })
        : ask("GET", "/api/nodes/{id}/use", { params: { id: node }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (use.isPending) return <Skeleton rows={4} />;
  if (use.isError) {
    const { code, message, hint } = asProblem(use.error);
    // All else on the page is as it should be.
    if (code === "figures_away")
      return (
        <Warning>
          <p>{message}</p>
          <p>
            <Words text={hint} />
          </p>
        </Warning>
      );
    return <Failure error={use.error} retry={() => void use.refetch()} />;
  }
  const figures = figuresOfUse(use.data);
  if (figures.length === 0) return null;
  return (
    <section aria-label="Use in the last 24 hours">
      <ChartGroup
        isSmall
        tools={<h2>Use in the last 24 hours</h2>}
        about={`Times are of ${zoneName()}.`}
      >
        {figures.map(({ measure, ...figure }) => (
          <ChartFigure key={measure} {...figure} of="Node" axis="time" />
        ))}
      </ChartGroup>
    </section>
  );
}
