/** The one alert that Prometheus can't tell itself. */
export const PROMETHEUS_UNREACHABLE = {
  alert: "PrometheusUnreachable",
  severity: "critical",
  summary: "Prometheus does not answer: no other alert can be told.",
  todo: "Run `appliance logs prometheus`.",
  runbook: "docs/operator/runbooks/prometheus-unreachable.md",
} as const;
