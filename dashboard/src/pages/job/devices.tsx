import {
  DEVICE_MEASURES,
  type DeviceMeasure,
  deviceOfCurve,
} from "@resontech/contracts/device-curves";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { ask } from "../../api/ask.ts";
import type { Line } from "../../ui/chart/aligned-of.ts";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CurveFigure } from "./curve-figure.tsx";
import styles from "./job-page.module.css";

const TITLES: Record<DeviceMeasure, string> = {
  use: "Use, percent, by seconds",
  memory: "Memory in use, GiB, by seconds",
  power: "Power, watts, by seconds",
};
const GIB = 1024 ** 3;

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
          While the job runs, the tools of its GPUs are asked every half minute. Processors tell
          nothing here.
        </p>
      </Empty>
    );
  return (
    <Suspense fallback={<Skeleton />}>
      <div className={styles["charts"]}>
        {DEVICE_MEASURES.map((measure) => [measure, linesOf(series, measure)] as const)
          .filter(([, lines]) => lines.length > 0)
          .map(([measure, lines]) => (
            <CurveFigure key={measure} title={TITLES[measure]} of="Device" lines={lines} />
          ))}
      </div>
    </Suspense>
  );
}

function linesOf(series: JobMetricsReply["series"], measure: DeviceMeasure): Line[] {
  return series.flatMap(({ site, name, points }) => {
    const device = deviceOfCurve(name);
    if (device?.measure !== measure) return [];
    const label = `${site} on ${device.worker}`;
    if (measure !== "memory") return [{ label, points }];
    const inGib = (bytes: number) => Math.round((bytes / GIB) * 100) / 100;
    return [
      {
        label,
        points: points.map(
          ([at, last, least, most]) => [at, inGib(last), inGib(least), inGib(most)] as const,
        ),
      },
    ];
  });
}
