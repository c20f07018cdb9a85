import {
  DEVICE_MEASURES,
  type DeviceMeasure,
  deviceOfCurve,
} from "@resontech/contracts/device-curves";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { alignedOf, type Line } from "../../ui/chart/aligned-of.ts";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import type { Unit } from "../../ui/chart/units.ts";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

const LOOKS: Record<DeviceMeasure, { title: string; unit: Unit }> = {
  use: { title: "Use, by seconds", unit: "percent" },
  memory: { title: "Memory in use, by seconds", unit: "bytes" },
  power: { title: "Power, by seconds", unit: "watts" },
};

/** What the job's devices did while its members held them. */
export function Devices({ jobId }: { jobId: string }) {
  const devices = useQuery({
    queryKey: ["job", jobId, "devices"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs/{id}/devices", { params: { id: jobId }, signal }),
  });
  if (devices.isPending) return <Skeleton />;
  if (devices.isError)
    return <Failure error={devices.error} retry={() => void devices.refetch()} />;
  const { series } = devices.data;
  if (series.length === 0)
    return (
      <Empty title="No device has told yet">
        <p>
          While the job runs, the tools of its GPUs are asked every half minute. Processors stand
          under Use.
        </p>
      </Empty>
    );
  return (
    <ChartGroup>
      {DEVICE_MEASURES.map((measure) => [measure, linesOf(series, measure)] as const)
        .filter(([, lines]) => lines.length > 0)
        .map(([measure, lines]) => (
          <ChartFigure
            key={measure}
            {...LOOKS[measure]}
            of="Device"
            axis="number"
            axisName="second"
            plot={alignedOf(lines)}
          />
        ))}
    </ChartGroup>
  );
}

function linesOf(series: JobMetricsReply["series"], measure: DeviceMeasure): Line[] {
  return series.flatMap(({ site, name, points }) => {
    const device = deviceOfCurve(name);
    if (device?.measure !== measure) return [];
    return [{ label: `${site} on ${device.worker}`, points }];
  });
}
