/** Prometheus' two files, its flags and its environment. Every path is absolute. JSON, which YAML is a superset of. */
import { ALERT_RULES, type AlertRule } from "./alert-rules.ts";
import { KEPT_DAYS, LOOK_EVERY_S } from "./kept-figures.ts";
import { READER_NAME } from "./reader-name.ts";

export type PrometheusSettings = {
  /** Of 127.0.0.1. */
  port: number;
  dataDir: string;
  configFile: string;
  webConfigFile: string;
  rulesFile: string;
  /** Vouches for everything that is asked, and for who asks Prometheus. */
  caFile: string;
  /** Own certificate: of 127.0.0.1, and of {@link READER_NAME}, because it asks itself, too. */
  certFile: string;
  keyFile: string;
  /** The front door, whose `/metrics` is the coordinator's; others may vouch for it than for the rest. */
  door: { address: string; port: number; name: string; caFile?: string };
  tokenFile: string;
  /** Keycloak's management port on 127.0.0.1; null: not asked. */
  keycloakPort: number | null;
  /** Seconds between two looks. @default 15 */
  everyS?: number;
};

const RETENTION = { time: `${KEPT_DAYS}d`, size: "1GB" };
const LONGEST_SCRAPE_S = 10;
/** Of Go's heap: it collects harder before it grows beyond. */
const MEMORY = "256MiB";
/** A target that says more is not read: labels that run away must not fill memory. */
const LIMITS = {
  sample_limit: 20_000,
  label_limit: 32,
  label_value_length_limit: 1_024,
  body_size_limit: "8MB",
};

export function renderPrometheusConfig(settings: PrometheusSettings): string {
  const { caFile, certFile, keyFile, door, tokenFile, keycloakPort, port, rulesFile } = settings;
  const { everyS = LOOK_EVERY_S } = settings;
  const every = `${everyS}s`;
  const own = { ca_file: caFile, cert_file: certFile, key_file: keyFile };
  return json({
    global: {
      ...{ scrape_interval: every, evaluation_interval: every },
      scrape_timeout: `${Math.min(everyS, LONGEST_SCRAPE_S)}s`,
      ...LIMITS,
    },
    rule_files: [rulesFile],
    scrape_configs: [
      {
        job_name: "coordinator",
        scheme: "https",
        authorization: { credentials_file: tokenFile },
        tls_config: { ca_file: door.caFile ?? caFile, server_name: door.name },
        static_configs: [{ targets: [`${door.address}:${door.port}`] }],
        ...oneInstance(),
      },
      {
        job_name: "prometheus",
        scheme: "https",
        tls_config: { ...own, server_name: "127.0.0.1" },
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
        ...oneInstance(),
      },
      ...(keycloakPort === null
        ? []
        : [
            {
              job_name: "keycloak",
              scheme: "https",
              tls_config: { ...own, server_name: "127.0.0.1" },
              static_configs: [{ targets: [`127.0.0.1:${keycloakPort}`] }],
              ...oneInstance(),
              metric_relabel_configs: [
                {
                  source_labels: ["__name__"],
                  // Memory, threads and requests of the JVM; Keycloak's own counters may name realms and clients.
                  regex: "(jvm|process|http_server|agroal|base)_.*",
                  action: "keep",
                },
              ],
            },
          ]),
    ],
  });
}

/** Labels all alike, for there is one of each here: neither address nor port becomes a label. */
function oneInstance(): object {
  return {
    relabel_configs: [{ target_label: "instance", replacement: "appliance" }],
    honor_labels: false,
  };
}

/** TLS, and only for who shows a certificate of {@link READER_NAME}. */
export function renderWebConfig({ certFile, keyFile, caFile }: PrometheusSettings): string {
  return json({
    tls_server_config: {
      ...{ cert_file: certFile, key_file: keyFile, min_version: "TLS12" },
      client_auth_type: "RequireAndVerifyClientCert",
      client_ca_file: caFile,
      client_allowed_sans: [READER_NAME],
    },
  });
}

export function renderAlertRules(rules: readonly AlertRule[] = ALERT_RULES): string {
  return json({
    groups: [
      {
        name: "appliance",
        rules: rules.map(({ alert, expr, forDuration, severity, summary, todo, runbook }) => ({
          ...{ alert, expr },
          ...(forDuration === null ? {} : { for: forDuration }),
          labels: { severity },
          annotations: { summary, todo, runbook },
        })),
      },
    ],
  });
}

export function prometheusFlags(settings: PrometheusSettings): string[] {
  const { port, dataDir, configFile, webConfigFile } = settings;
  return [
    `--config.file=${configFile}`,
    `--web.config.file=${webConfigFile}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--web.max-connections=32",
    // No page of another origin reads answers.
    "--web.cors.origin=^$",
    `--storage.tsdb.path=${dataDir}`,
    `--storage.tsdb.retention.time=${RETENTION.time}`,
    `--storage.tsdb.retention.size=${RETENTION.size}`,
    "--query.max-samples=2000000",
    "--query.max-concurrency=4",
    "--query.timeout=30s",
    "--no-auto-gomemlimit",
    "--log.format=json",
  ];
}

export function prometheusEnvironment(): Record<string, string> {
  return { GOMEMLIMIT: MEMORY };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
