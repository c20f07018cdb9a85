import type { DeploymentMetrics } from "@resontech/contracts/http-inference";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { errorsText, rateText, servingText, timeText, useText } from "./figure-texts.ts";

/** The coordinator hears from the gateway each second. */
const ASKED_EVERY_MS = 2_000;

/** How busy is it, and how fast? */
export function Figures({ id }: { id: string }) {
  const metrics = useQuery({
    queryKey: ["deployment-metrics", id],
    queryFn: ({ signal }) =>
      ask("GET", "/api/inference/jobs/{id}/metrics", { params: { id }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  return (
    <Panel title="The last minute" id="figures">
      {metrics.isError ? (
        <Failure error={metrics.error} retry={() => void metrics.refetch()} />
      ) : null}
      {metrics.isPending ? <Skeleton /> : null}
      {metrics.data === undefined ? null : <Now metrics={metrics.data} />}
    </Panel>
  );
}

function Now({ metrics: { serving, devices, figures } }: { metrics: DeploymentMetrics }) {
  const { inFlight, waiting, durationMs, firstByteMs } = figures;
  return (
    <>
      {figures.windowS === 0 ? (
        <p>The gateway has told nothing yet: rates and times come with its second word.</p>
      ) : null}
      <Facts
        areFigures
        facts={[
          ["State", servingText(serving?.state ?? null, serving?.wakeMs ?? null), "serving"],
          ["Replicas", `${serving?.ready ?? 0} answer, ${serving?.starting ?? 0} on their way`],
          ["Calls now", inFlight === null ? "–" : `${inFlight}, and ${waiting ?? 0} wait`],
          ["Requests a second", rateText(figures.requestsPerSecond), "requests"],
          [
            "Half, 95 %, 99 % of calls took at most",
            [durationMs?.p50, durationMs?.p95, durationMs?.p99]
              .map((ms) => timeText(ms ?? null))
              .join(" · "),
          ],
          ["To the first byte, half of them", timeText(firstByteMs?.p50 ?? null)],
          [
            "Tokens a second, in and out",
            `${rateText(figures.promptTokensPerSecond)} · ${rateText(figures.completionTokensPerSecond)}`,
          ],
          ["Errors", errorsText(figures.errors), "errors"],
          ["Use of its devices", useText(devices)],
        ]}
      />
    </>
  );
}
