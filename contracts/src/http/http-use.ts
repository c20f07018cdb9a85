/** What a job, a node and the whole fleet used over time, as the appliance's Prometheus has it. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

/** Units of the measures; what counts up comes as a rate. */
export const USE_UNITS = {
  cpu: "cores",
  cpu_limit: "cores",
  memory: "bytes",
  memory_peak: "bytes",
  memory_limit: "bytes",
  disk: "bytes",
  disk_limit: "bytes",
  disk_read: "bytes/s",
  disk_write: "bytes/s",
  network_in: "bytes/s",
  network_out: "bytes/s",
  device_use: "percent",
  device_memory: "bytes",
  device_power: "watts",
  device_temperature: "celsius",
  devices: "devices",
  devices_limit: "devices",
  workers: "workers",
  workers_limit: "workers",
  calls: "calls/s",
  failed_calls: "calls/s",
  calls_under_way: "calls",
  calls_waiting: "calls",
  latency_p50: "seconds",
  latency_p95: "seconds",
  latency_p99: "seconds",
  first_byte_p50: "seconds",
  first_byte_p95: "seconds",
  tokens_in: "tokens/s",
  tokens_out: "tokens/s",
  replicas_ready: "replicas",
  replicas_starting: "replicas",
  replicas_asleep: "replicas",
} as const;
export type UseMeasure = keyof typeof USE_UNITS;
export const USE_MEASURES = Object.keys(USE_UNITS) as UseMeasure[];
const UNITS = [...new Set(Object.values(USE_UNITS))];

/** After year 5000 nobody asks. */
const UnixMs = Type.Integer({ minimum: 0, maximum: 1e14 });
/** A span that is left out is the route's own. */
export const UseQuery = Type.Object(
  {
    from: Type.Optional({ ...UnixMs, description: "Unix milliseconds" }),
    to: Type.Optional({ ...UnixMs, description: "Unix milliseconds" }),
    points: Type.Integer({
      ...{ minimum: 2, maximum: 1_000, default: 500 },
      description: "At most so many of each curve",
    }),
  },
  closed,
);
export type UseQuery = Static<typeof UseQuery>;

/** Whose curve it is; what does not tell curves of one answer apart is absent. */
const UseOf = Type.Object(
  {
    member: Type.Optional(Type.String()),
    site: Type.Optional(Type.String()),
    attempt: Type.Optional(Type.String()),
    node: Type.Optional(Type.String()),
    worker: Type.Optional(Type.String()),
    /** What the disk holds. */
    disk: Type.Optional(Type.String()),
  },
  closed,
);

/** Curves over one time axis: the value `i` is of the second `fromS + i * stepS`. */
export const UseReply = Type.Object(
  {
    ...{ fromS: Type.Integer(), toS: Type.Integer(), stepS: Type.Integer({ minimum: 1 }) },
    /** What is older is gone. */
    keptDays: Type.Integer({ minimum: 1 }),
    series: Type.Array(
      Type.Object(
        {
          measure: Type.Enum([...USE_MEASURES]),
          unit: Type.Enum([...UNITS]),
          of: UseOf,
          /** Null where nothing was told. */
          values: Type.Array(Type.Union([Type.Number(), Type.Null()])),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type UseReply = Static<typeof UseReply>;
