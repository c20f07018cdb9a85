/** Curves of use as an appliance of two sites would answer them. Pure. */
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";

const GIB = 1024 ** 3;
const POINTS = 500;

type Of = {
  member?: string;
  site?: string;
  attempt?: string;
  node?: string;
  worker?: string;
  disk?: string;
};
type Drawn = { measure: string; unit: string; of: Of; values: (number | null)[] };

function drawn(fromS: number, toS: number, draw: (wave: Wave) => Drawn[]) {
  const stepS = Math.max(15, (toS - fromS) / POINTS);
  const count = Math.max(2, Math.min(POINTS, Math.floor((toS - fromS) / stepS)));
  const wave: Wave = (base, swing, phase = 0) =>
    Array.from({ length: count }, (_, at) => {
      const t = (at / count) * 40 + phase;
      return Math.max(
        0,
        base + swing * (Math.sin(t) * 0.6 + Math.sin(t * 3.7) * 0.3 + Math.sin(t * 11) * 0.1),
      );
    });
  return { fromS, toS, stepS, keptDays: 15, series: draw(wave) };
}
type Wave = (base: number, swing: number, phase?: number) => number[];

export function jobUse(fromS: number, toS: number) {
  return drawn(fromS, toS, (wave) =>
    ["server", "site-1", "site-2"].flatMap((site, at) => {
      const of = { member: `m-${at}`, site, attempt: "1", node: "node-a", worker: `node-a-${at}` };
      const one = (measure: string, unit: string, values: number[]) => ({
        measure,
        unit,
        of,
        values,
      });
      const all = [
        one("cpu", "cores", wave(at === 0 ? 0.3 : 2.6, at === 0 ? 0.2 : 1.1, at * 2)),
        one("memory", "bytes", wave((2 + at * 3) * GIB, 0.6 * GIB, at)),
        one("memory_limit", "bytes", wave(12 * GIB, 0)),
        one("disk_read", "bytes/s", wave(30e6, 40e6, at)),
        one("disk_write", "bytes/s", wave(8e6, 12e6, at + 1)),
        one("network_in", "bytes/s", wave(1.2e6, 2e6, at)),
        one("network_out", "bytes/s", wave(0.9e6, 1.6e6, at + 2)),
      ];
      return at === 0
        ? all
        : [
            ...all,
            one("device_use", "percent", wave(78, 22, at)),
            one("device_memory", "bytes", wave(38 * GIB, 3 * GIB, at)),
            one("device_power", "watts", wave(310, 60, at)),
          ];
    }),
  );
}

export function nodeUse(fromS: number, toS: number) {
  return drawn(fromS, toS, (wave) => {
    const of = { node: "node-a" };
    return [
      { measure: "cpu", unit: "cores", of, values: wave(5, 3) },
      { measure: "memory", unit: "bytes", of, values: wave(22 * GIB, 5 * GIB) },
      {
        measure: "disk_read",
        unit: "bytes/s",
        of: { ...of, disk: "nvme0n1" },
        values: wave(60e6, 70e6),
      },
      {
        measure: "disk_write",
        unit: "bytes/s",
        of: { ...of, disk: "nvme0n1" },
        values: wave(20e6, 20e6, 2),
      },
    ];
  });
}

export function fleetUse(fromS: number, toS: number) {
  return drawn(fromS, toS, (wave) =>
    ["node-a", "node-b"].flatMap((node, at) => [
      { measure: "cpu", unit: "cores", of: { node }, values: wave(5 + 3 * at, 3, at) },
      { measure: "cpu_limit", unit: "cores", of: { node }, values: wave(16, 0) },
      {
        measure: "memory",
        unit: "bytes",
        of: { node },
        values: wave((22 + 9 * at) * GIB, 5 * GIB, at),
      },
      {
        measure: "device_use",
        unit: "percent",
        of: { node, worker: `${node}-0` },
        values: wave(65, 30, at * 3),
      },
      {
        measure: "disk_read",
        unit: "bytes/s",
        of: { node, disk: "nvme0n1" },
        values: wave(60e6, 70e6, at),
      },
      {
        measure: "disk_write",
        unit: "bytes/s",
        of: { node, disk: "nvme0n1" },
        values: wave(25e6, 20e6, at),
      },
    ]),
  );
}

/** Curves of devices through so many seconds, around what was told last. */
export function deviceCurves(told: JobMetricsReply, seconds: number): JobMetricsReply {
  const every = 30;
  const series = told.series.map((one) => {
    const last = one.points.at(-1)?.[1] ?? 0;
    const points = Array.from({ length: Math.floor(seconds / every) }, (_, at) => {
      const value = last * (1 + 0.2 * Math.sin(at / 3) + 0.06 * Math.sin(at * 2.3));
      return [at * every, value, value * 0.95, value * 1.05] as [number, number, number, number];
    });
    return { ...one, points };
  });
  return { ...told, series };
}
