/**
 * A dashboard for a Grafana of the customer's that reads a Prometheus of the customer's. Grafana is neither bundled nor linked; its published
 * schema, Apache-2.0, is what the types here are of. `node parts/prometheus/grafana/write-dashboard.ts` makes the file anew.
 */
import type { Dashboard, Panel } from "@grafana/schema";

type Query = { expr: string; legend: string };
type Drawn = {
  title: string;
  description: string;
  type: "timeseries" | "stat";
  unit: string;
  width: number;
  queries: readonly Query[];
};

const HEIGHT = 8;
const COLUMNS = 24;
const DATASOURCE = { type: "prometheus", uid: "${datasource}" };

const DRAWN: readonly Drawn[] = [
  stat("Parts that are not healthy", "Parts that somebody stopped are left out.", "short", [
    {
      expr: "count(resontech_part_up == 0 and on (part) resontech_part_held == 0) or vector(0)",
      legend: "parts",
    },
  ]),
  stat("Nodes ready", "Nodes that may be given work.", "short", [
    { expr: "sum(resontech_node_ready)", legend: "ready" },
  ]),
  stat("Audit log", "1 while records are taken.", "short", [
    { expr: 'resontech_audit_state{state="ok"}', legend: "ok" },
  ]),
  stat("Longest wait", "Of the job that waits longest for devices.", "s", [
    { expr: "resontech_jobs_longest_wait_seconds", legend: "wait" },
  ]),
  series("Jobs by state", "Jobs that have not ended.", "short", [
    {
      expr: 'resontech_jobs{state!~"succeeded|failed|cancelled|expired|rejected"}',
      legend: "{{state}}",
    },
  ]),
  series("Workers", "Devices and processors by what they can do now.", "short", [
    { expr: "resontech_workers", legend: "{{status}}" },
  ]),
  series("Use of devices", "How busy each is.", "percentunit", [
    { expr: "resontech_device_utilization_ratio", legend: "{{node}} {{worker}}" },
  ]),
  series("Memory of devices", "In use.", "bytes", [
    { expr: "resontech_device_memory_used_bytes", legend: "{{node}} {{worker}}" },
  ]),
  series("Temperature of devices", "An alert comes above 90 °C.", "celsius", [
    { expr: "resontech_device_temperature_celsius", legend: "{{node}} {{worker}}" },
  ]),
  series("Silence of nodes", "Time since the last beat.", "s", [
    { expr: "resontech_node_silent_seconds", legend: "{{node}}" },
  ]),
  series("Processors of nodes", "How busy all are together.", "percentunit", [
    {
      expr: "rate(resontech_node_cpu_seconds_total[2m]) / resontech_node_processors",
      legend: "{{node}}",
    },
  ]),
  series("Memory of nodes", "Part that can't be given back at once.", "percentunit", [
    { expr: "resontech_node_memory_used_bytes / resontech_node_memory_bytes", legend: "{{node}}" },
  ]),
  series("Processors of members", "Of the ten that use most.", "short", [
    {
      expr: "topk(10, rate(resontech_member_cpu_seconds_total[2m]))",
      legend: "{{exported_job}} {{site}}",
    },
  ]),
  series(
    "Memory of members",
    "Part of the limit, of the ten that are nearest to it.",
    "percentunit",
    [
      {
        expr: "topk(10, resontech_member_memory_bytes / resontech_member_memory_limit_bytes)",
        legend: "{{exported_job}} {{site}}",
      },
    ],
  ),
  series("Requests", "Answers each second, by status.", "reqps", [
    { expr: "sum by (status) (rate(resontech_http_requests_total[5m]))", legend: "{{status}}" },
  ]),
  series("Slow requests", "99 of 100 requests are faster than this, by route.", "s", [
    {
      expr: "histogram_quantile(0.99, sum by (route, le) (rate(resontech_http_request_duration_seconds_bucket[5m])))",
      legend: "{{route}}",
    },
  ]),
  series("Audit log", "Entries each second, and records that wait.", "short", [
    { expr: "rate(resontech_audit_entries[5m])", legend: "entries each second" },
    { expr: "resontech_audit_outbox_records", legend: "records that wait" },
  ]),
  series("Event loop", "Lateness of the coordinator.", "s", [
    { expr: "nodejs_eventloop_lag_p99_seconds", legend: "99 of 100" },
  ]),
  series("Room on disks", "Part that is left.", "percentunit", [
    { expr: "resontech_disk_free_bytes / resontech_disk_size_bytes", legend: "{{holds}}" },
  ]),
  series("Certificates", "Time until each ends.", "s", [
    { expr: "resontech_certificate_expiry_timestamp_seconds - time()", legend: "{{certificate}}" },
  ]),
  series("Backups", "Age of the last whole one, and how far the target is behind.", "s", [
    { expr: "time() - resontech_backup_last_timestamp_seconds", legend: "age" },
    { expr: "resontech_backup_behind_seconds", legend: "behind" },
  ]),
];

export function applianceDashboard(): Dashboard {
  return {
    ...{ uid: "resontech-appliance", title: "ResonTech appliance", tags: ["resontech"] },
    ...{ schemaVersion: 41, version: 1, editable: true, refresh: "30s", timezone: "browser" },
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        {
          ...{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" },
          skipUrlSync: false,
        },
      ],
    },
    annotations: { list: [] },
    panels: placed(DRAWN),
  };
}

/** Every query of it. */
export function dashboardQueries(): string[] {
  return DRAWN.flatMap(({ queries }) => queries.map(({ expr }) => expr));
}

/** From left to right, in rows of one height. */
function placed(drawn: readonly Drawn[]): Panel[] {
  let [x, y] = [0, 0];
  return drawn.map((one, at) => {
    if (x + one.width > COLUMNS) [x, y] = [0, y + HEIGHT];
    const panel = panelOf(one, at + 1, { x, y, w: one.width, h: HEIGHT });
    x += one.width;
    return panel;
  });
}

function panelOf(
  { title, description, type, unit, queries }: Drawn,
  id: number,
  gridPos: { x: number; y: number; w: number; h: number },
): Panel {
  return {
    ...{ id, type, title, description, gridPos, datasource: DATASOURCE },
    fieldConfig: { defaults: { unit }, overrides: [] },
    options: {},
    targets: queries.map(({ expr, legend }, index) => ({
      ...{ refId: "ABCDEFGH"[index], datasource: DATASOURCE, expr, legendFormat: legend },
    })),
  };
}

function stat(title: string, description: string, unit: string, queries: readonly Query[]): Drawn {
  return { title, description, type: "stat", unit, width: 6, queries };
}

function series(
  title: string,
  description: string,
  unit: string,
  queries: readonly Query[],
): Drawn {
  return { title, description, type: "timeseries", unit, width: 12, queries };
}
