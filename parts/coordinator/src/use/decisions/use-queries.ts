/**
 * One question to Prometheus for each answer: a part for each measure, told apart by a label of that name. Pure.
 *
 * A value is of the time since the one before it: rates of what counts up, the most of memory, the mean of devices. Memory's short peaks are seen so on a
 * long axis too.
 */
import type { ReplicaState } from "@resontech/contracts/deployment-states";
import type { UseMeasure } from "@resontech/contracts/http-use";
import { LOOK_EVERY_S } from "@resontech/prometheus/kept-figures";

/** Of a member or a device, the label that says which measure it is of. */
export const MEASURE_LABEL = "measure";
/** Prometheus calls what it looks at "job" already, and puts this before ours. */
const JOB_LABEL = "exported_job";
/** A rate wants two looks, and one may fail. */
const RATE_LOOKS = 3;
const GAUGE_LOOKS = 2;

type Parts = Partial<Record<UseMeasure, string>>;

/** Windows over which a value is taken. */
type Windows = { rate: string; gauge: string };

function windowsOf(stepS: number): Windows {
  const atLeast = (looks: number): string => `${Math.max(stepS, looks * LOOK_EVERY_S)}s`;
  return { rate: atLeast(RATE_LOOKS), gauge: atLeast(GAUGE_LOOKS) };
}

/** @param workers accelerators that members of the job held, in any attempt */
export function jobUseQuery(job: string, workers: readonly string[], stepS: number): string {
  const { rate, gauge } = windowsOf(stepS);
  const own = `{${JOB_LABEL}=${quoted(job)}}`;
  const rated = (name: string): string => `rate(resontech_member_${name}_total${own}[${rate}])`;
  const most = (name: string): string => `max_over_time(resontech_member_${name}${own}[${gauge}])`;
  const devices = devicePartsOf(`worker=~${quoted(workers.map(literally).join("|"))}`, gauge);
  const held = `last_over_time(resontech_member_device${own}[${gauge}])`;
  return asOne({
    cpu: rated("cpu_seconds"),
    memory: most("memory_bytes"),
    memory_peak: most("memory_peak_bytes"),
    memory_limit: most("memory_limit_bytes"),
    disk_read: rated("disk_read_bytes"),
    disk_write: rated("disk_written_bytes"),
    network_in: rated("network_received_bytes"),
    network_out: rated("network_sent_bytes"),
    ...(workers.length === 0
      ? {}
      : mapped(devices, (part) => `${held} * on (node, worker) group_left () ${part}`)),
  });
}

export function nodeUseQuery(node: string, stepS: number): string {
  const { rate, gauge } = windowsOf(stepS);
  const own = `{node=${quoted(node)}}`;
  const rated = (name: string): string => `rate(resontech_node_${name}_total${own}[${rate}])`;
  const most = (name: string): string => `max_over_time(resontech_node_${name}${own}[${gauge}])`;
  return asOne({
    cpu: rated("cpu_seconds"),
    cpu_limit: most("processors"),
    memory: most("memory_used_bytes"),
    memory_limit: most("memory_bytes"),
    disk: most("disk_used_bytes"),
    disk_limit: most("disk_bytes"),
    network_in: rated("network_received_bytes"),
    network_out: rated("network_sent_bytes"),
    ...devicePartsOf(`node=${quoted(node)}`, gauge),
  });
}

/** Sums of all nodes, and each disk of the appliance's own host. */
export function fleetUseQuery(stepS: number): string {
  const { rate, gauge } = windowsOf(stepS);
  const sum = (name: string): string => `sum(max_over_time(resontech_node_${name}[${gauge}]))`;
  return asOne({
    cpu: `sum(rate(resontech_node_cpu_seconds_total[${rate}]))`,
    cpu_limit: sum("processors"),
    memory: sum("memory_used_bytes"),
    memory_limit: sum("memory_bytes"),
    disk: `${sum("disk_used_bytes")} or (resontech_disk_size_bytes - on (holds, instance) resontech_disk_free_bytes)`,
    disk_limit: `${sum("disk_bytes")} or resontech_disk_size_bytes`,
    devices: `sum(resontech_accelerators{status="busy"})`,
    devices_limit: "sum(resontech_accelerators)",
    workers: `sum(resontech_workers{status="busy"})`,
    workers_limit: "sum(resontech_workers)",
  });
}

/** States of replicas that people are shown as one. */
const REPLICAS: Partial<Record<UseMeasure, readonly ReplicaState[]>> = {
  replicas_ready: ["READY"],
  replicas_starting: ["LEASED", "STARTING", "WARMING", "WAKING"],
  replicas_asleep: ["SLEEPING"],
};

/** Calls, their times, tokens and replicas of a deployment. A time that nobody waited for is no value. */
export function servingUseQuery(deployment: string, stepS: number): string {
  const { rate, gauge } = windowsOf(stepS);
  const own = `deployment=${quoted(deployment)}`;
  const rated = (name: string): string =>
    `sum(rate(resontech_inference_${name}_total{${own}}[${rate}]))`;
  const most = (name: string): string =>
    `sum(max_over_time(resontech_inference_${name}{${own}}[${gauge}]))`;
  const time = (share: number, name: string): string =>
    `histogram_quantile(${share}, sum by (le) (rate(resontech_inference_${name}_seconds_bucket{${own}}[${rate}])))`;
  return asOne({
    calls: rated("requests"),
    failed_calls: rated("errors"),
    calls_under_way: most("in_flight"),
    calls_waiting: most("waiting"),
    latency_p50: time(0.5, "duration"),
    latency_p95: time(0.95, "duration"),
    latency_p99: time(0.99, "duration"),
    first_byte_p50: time(0.5, "first_byte"),
    first_byte_p95: time(0.95, "first_byte"),
    tokens_in: rated("prompt_tokens"),
    tokens_out: rated("completion_tokens"),
    ...Object.fromEntries(
      Object.entries(REPLICAS).map(([measure, states]) => {
        const names = states.map((state) => state.toLowerCase()).join("|");
        return [
          measure,
          `sum(max_over_time(resontech_inference_replicas{${own},state=~"${names}"}[${gauge}]))`,
        ];
      }),
    ),
  });
}

function devicePartsOf(matcher: string, gauge: string): Parts {
  const mean = (name: string): string =>
    `avg_over_time(resontech_device_${name}{${matcher}}[${gauge}])`;
  return {
    device_use: `100 * ${mean("utilization_ratio")}`,
    device_memory: mean("memory_used_bytes"),
    device_power: mean("power_watts"),
    device_temperature: mean("temperature_celsius"),
  };
}

function asOne(parts: Parts): string {
  return Object.entries(parts)
    .map(([measure, part]) => `label_replace(${part}, "${MEASURE_LABEL}", "${measure}", "", "")`)
    .join(" or ");
}

function mapped(parts: Parts, change: (part: string) => string): Parts {
  return Object.fromEntries(
    Object.entries(parts).map(([measure, part]) => [measure, change(`(${part})`)]),
  );
}

/** As a text of PromQL. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** As a part of a regular expression that matches this text alone. */
function literally(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, (sign) => `\\${sign}`);
}
