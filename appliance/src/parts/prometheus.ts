/** Prometheus: keeps figures of parts, nodes and devices for 15 days, and judges when somebody is to be told. Nobody's work waits for it. */
import { readFileSync } from "node:fs";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import {
  prometheusEnvironment,
  prometheusFlags,
  type PrometheusSettings,
} from "@resontech/prometheus/prometheus-config";
import { prometheusTokenFile } from "../config/metrics-token.ts";
import { engineVersion, type PartContext } from "./context.ts";
import { httpsGet } from "./health.ts";
import type { Part } from "./part.ts";
import { processPart } from "./process-part.ts";

/** With little memory left on the host, figures go before work does. */
const OOM_SCORE = 300;

export function prometheusSettings({ config, layout }: PartContext): PrometheusSettings {
  const own = (name: string): string => layout.secrets("prometheus", name);
  return {
    port: config.ports.prometheus ?? DEFAULT_PORTS.prometheus,
    dataDir: layout.data("prometheus"),
    ...{ configFile: own("prometheus.yml"), webConfigFile: own("web.yml") },
    ...{ rulesFile: own("rules.yml"), tokenFile: prometheusTokenFile(layout) },
    ...{ caFile: layout.rootCert, certFile: own("server.crt"), keyFile: own("server.key") },
    door: {
      ...{ address: config.address, port: config.ports.api, name: config.name },
      caFile: layout.trustCert,
    },
    keycloakPort: config.ports.keycloakManagement,
  };
}

export function prometheusPart(context: PartContext): Part {
  const { layout } = context;
  const settings = prometheusSettings(context);
  return processPart(context, {
    name: "prometheus",
    after: [],
    user: "prometheus",
    program: layout.release("engines", "prometheus"),
    args: prometheusFlags(settings),
    env: prometheusEnvironment,
    port: settings.port,
    version: engineVersion(context, "prometheus"),
    isHealthy: async () =>
      (
        await httpsGet({
          ...{ host: "127.0.0.1", port: settings.port, path: "/-/ready", servername: "localhost" },
          caFile: layout.rootCert,
          client: {
            // It asks itself with the same one.
            cert: readFileSync(settings.certFile),
            key: readFileSync(settings.keyFile),
          },
        })
      )?.status === 200,
    // What it did not write yet is in its log, and read at the next start.
    startTimeoutMs: 120_000,
    stopGraceMs: 30_000,
    oomScore: OOM_SCORE,
  });
}
