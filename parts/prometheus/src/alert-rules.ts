/** When somebody is told. Each rule has a page of docs/operator/runbooks, which says what to do. */
import { stepBelowQuery } from "@resontech/contracts/disk-ladder";

export type Severity = "critical" | "warning";

export type AlertRule = {
  alert: string;
  expr: string;
  /** How long it must hold, in Prometheus' words; null: at once. */
  forDuration: string | null;
  severity: Severity;
  /** One line for a person; `{{ $labels.x }}` and `{{ $value }}` are Prometheus' templates. */
  summary: string;
  /** The first thing to do. */
  todo: string;
  /** Path of the page below the documents. */
  runbook: string;
};

const page = (name: string): string => `docs/operator/runbooks/${name}.md`;

export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: "CoordinatorUnreachable",
    expr: 'up{job="coordinator"} == 0 or absent(up{job="coordinator"})',
    ...{ forDuration: "1m", severity: "critical" },
    summary: "The coordinator does not answer Prometheus.",
    todo: "Run `appliance status`.",
    runbook: page("coordinator-unreachable"),
  },
  {
    alert: "ScrapeFails",
    expr: 'up{job!="coordinator"} == 0',
    ...{ forDuration: "5m", severity: "warning" },
    summary: "Prometheus can't read the figures of {{ $labels.job }}.",
    todo: "Run `appliance logs prometheus`.",
    runbook: page("scrape-fails"),
  },
  {
    alert: "PartDown",
    expr: "resontech_part_up == 0 and on (part) resontech_part_held == 0",
    ...{ forDuration: "2m", severity: "critical" },
    summary: "The part {{ $labels.part }} is not healthy.",
    todo: "Run `appliance logs {{ $labels.part }}`.",
    runbook: page("part-down"),
  },
  {
    alert: "PartRestarts",
    expr: "increase(resontech_part_restarts[15m]) > 3",
    ...{ forDuration: null, severity: "warning" },
    summary: "The part {{ $labels.part }} was started again more than three times in 15 minutes.",
    todo: "Run `appliance logs {{ $labels.part }}`.",
    runbook: page("part-down"),
  },
  {
    alert: "SupervisorSilent",
    expr: "resontech_supervisor_facts_age_seconds > 120",
    ...{ forDuration: "1m", severity: "critical" },
    summary: "The supervisor has said nothing for two minutes: nobody restarts what fails.",
    todo: "Run `appliance start`.",
    runbook: page("supervisor-silent"),
  },
  {
    alert: "AuditHalted",
    expr: 'resontech_audit_state{state="halted"} == 1',
    ...{ forDuration: null, severity: "critical" },
    summary: "The audit log has no place for a record: no new work is taken.",
    todo: "Run `appliance status`, and do not restart the coordinator before you know why.",
    runbook: page("audit-halted"),
  },
  {
    alert: "AuditAway",
    expr: 'resontech_audit_state{state=~"away|draining"} == 1 or resontech_audit_disk_low == 1',
    ...{ forDuration: "2m", severity: "critical" },
    summary: "The audit log is away, or its disk is nearly full: new jobs wait.",
    todo: "Run `appliance disk` and `appliance logs auditd`.",
    runbook: page("audit-halted"),
  },
  {
    alert: "AuditOutboxGrows",
    expr: "resontech_audit_outbox_oldest_seconds > 30",
    ...{ forDuration: "2m", severity: "warning" },
    summary: "Records have waited for the audit log for {{ $value | humanizeDuration }}.",
    todo: "Run `appliance logs auditd`.",
    runbook: page("audit-outbox-grows"),
  },
  {
    alert: "DatabaseNotWritable",
    expr: "resontech_database_up == 0",
    ...{ forDuration: "1m", severity: "critical" },
    summary: "The coordinator can't write its database.",
    todo: "Run `appliance disk`.",
    runbook: page("disk-full"),
  },
  {
    alert: "StorageDown",
    expr: "resontech_storage_up == 0",
    ...{ forDuration: "2m", severity: "critical" },
    summary: "The object store does not answer the coordinator.",
    todo: "Run `appliance logs s3` and `appliance logs s3-front`.",
    runbook: page("part-down"),
  },
  {
    alert: "NodeLost",
    expr: "resontech_node_lost == 1",
    ...{ forDuration: null, severity: "critical" },
    summary:
      "The node {{ $labels.node }} is taken for dead; its jobs go on elsewhere where they can.",
    todo: "Look whether the host runs and reaches the appliance.",
    runbook: page("node-lost"),
  },
  {
    alert: "NodeSilent",
    expr: "resontech_node_silent_seconds > 60 unless on (node) resontech_node_lost == 1",
    ...{ forDuration: "1m", severity: "warning" },
    summary: "The node {{ $labels.node }} has not been heard for {{ $value | humanizeDuration }}.",
    todo: "Look whether the host runs and reaches the appliance.",
    runbook: page("node-lost"),
  },
  {
    alert: "NodeDiskLow",
    expr: "resontech_node_disk_enough == 0",
    ...{ forDuration: "5m", severity: "warning" },
    summary: "The node {{ $labels.node }} has too little room to be given work.",
    todo: "Make room on the node's disk.",
    runbook: page("disk-full"),
  },
  {
    alert: "DeviceQuarantined",
    expr: "resontech_devices_quarantined > 0",
    ...{ forDuration: null, severity: "warning" },
    summary: "The node {{ $labels.node }} has {{ $value }} devices in quarantine.",
    todo: "Run `appliance status`, which says why.",
    runbook: page("device-quarantined"),
  },
  {
    alert: "DeviceUnhealthy",
    expr: "resontech_devices_unhealthy > 0",
    ...{ forDuration: "5m", severity: "warning" },
    summary: "The node {{ $labels.node }} has {{ $value }} devices that are not well.",
    todo: "Run `appliance status`, which says why.",
    runbook: page("device-quarantined"),
  },
  {
    alert: "DeviceHot",
    expr: "resontech_device_temperature_celsius > 90",
    ...{ forDuration: "5m", severity: "warning" },
    summary: "The device {{ $labels.worker }} of {{ $labels.node }} has {{ $value }} °C.",
    todo: "Look at the host's fans and the room's cooling.",
    runbook: page("device-hot"),
  },
  {
    alert: "QueueWaitsLong",
    expr: "resontech_jobs_longest_wait_seconds > 4 * 3600",
    ...{ forDuration: "15m", severity: "warning" },
    summary: "A job has waited for devices for {{ $value | humanizeDuration }}.",
    todo: "Look at the list of jobs, which says of each what it waits for.",
    runbook: page("queue-waits-long"),
  },
  {
    alert: "CertificateEnds",
    expr: "resontech_certificate_expiry_timestamp_seconds - time() < 14 * 86400",
    ...{ forDuration: "10m", severity: "warning" },
    summary: "{{ $labels.certificate }} ends in {{ $value | humanizeDuration }}.",
    todo: "Run `appliance restart`, which renews what is due.",
    runbook: page("certificate-ends"),
  },
  {
    alert: "BackupOverdue",
    expr: "resontech_backup_overdue == 1",
    ...{ forDuration: "5m", severity: "warning" },
    summary: "No backup was taken for twice the time of the schedule.",
    todo: "Run `appliance status`, which says why.",
    runbook: page("backup-overdue"),
  },
  {
    alert: "BackupBehind",
    expr: "resontech_backup_behind_seconds > 60",
    ...{ forDuration: "5m", severity: "warning" },
    summary:
      "What was done in the last {{ $value | humanizeDuration }} is on no other disk: it would be lost with this host.",
    todo: "Run `appliance status`, which says why.",
    runbook: page("backup-overdue"),
  },
  {
    alert: "DiskFull",
    expr: stepBelowQuery("full"),
    ...{ forDuration: "1m", severity: "critical" },
    summary:
      "{{ $value | humanize1024 }}B are left of the disk that holds: {{ $labels.holds }}. What can't be written is refused.",
    todo: "Make room now: `appliance disk`.",
    runbook: page("disk-full"),
  },
  {
    alert: "DiskLow",
    expr: `(${stepBelowQuery("low")}) unless (${stepBelowQuery("full")})`,
    ...{ forDuration: "5m", severity: "warning" },
    summary: "{{ $value | humanize1024 }}B are left of the disk that holds: {{ $labels.holds }}.",
    todo: "Run `appliance disk`.",
    runbook: page("disk-full"),
  },
  {
    alert: "LogDiskLow",
    expr: "resontech_disk_free_bytes < 2 * resontech_disk_log_refuses_below_bytes",
    ...{ forDuration: "5m", severity: "warning" },
    summary:
      "{{ $value | humanize1024 }}B are left of the disk of the audit log. At half of the threshold of this alert, new jobs are refused.",
    todo: "Run `appliance disk`.",
    runbook: page("disk-full"),
  },
  {
    alert: "DiskFilesLow",
    expr: "resontech_disk_files_free / (resontech_disk_files > 0) < 0.10",
    ...{ forDuration: "5m", severity: "warning" },
    summary:
      "The disk that holds {{ $labels.holds }} can take few more files: {{ $value | humanizePercentage }} are left.",
    todo: "Run `appliance disk`.",
    runbook: page("disk-full"),
  },
  {
    alert: "DeploymentFailed",
    expr: "resontech_inference_deployment_failed == 1",
    ...{ forDuration: "1m", severity: "warning" },
    summary: "The deployment {{ $labels.deployment }} failed to load several times.",
    todo: "Read its log: `resontech infer logs {{ $labels.deployment }}`.",
    runbook: page("deployment-fails"),
  },
  {
    alert: "DeploymentErrors",
    // What its callers do wrong, and what its limits turn away, is no fault of the deployment.
    expr: `sum by (deployment) (rate(resontech_inference_errors_total{code=~"5..|timeout|replica_gone|not_recorded"}[5m])) / sum by (deployment) (rate(resontech_inference_requests_total[5m]) > 0) > 0.1`,
    ...{ forDuration: "5m", severity: "warning" },
    summary:
      "Of the calls of the deployment {{ $labels.deployment }} {{ $value | humanizePercentage }} fail.",
    todo: "Run `resontech infer top --once`, and read its log.",
    runbook: page("deployment-fails"),
  },
  {
    alert: "AlertsNotDelivered",
    expr: "resontech_alert_target_failing == 1",
    ...{ forDuration: "5m", severity: "warning" },
    summary: "Alerts do not reach the target {{ $labels.target }}.",
    todo: "Run `appliance alerts ls`, which says why.",
    runbook: page("alerts-not-delivered"),
  },
];
