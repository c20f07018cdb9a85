/** Prometheus: keeps figures of parts, nodes and devices for 15 days, and judges when somebody is to be told. Nobody's work waits for it. */
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import { defineEngine, type PartFacts } from "@resontech/frame/define-part";
import {
  prometheusEnvironment,
  prometheusFlags,
  type PrometheusSettings,
  renderAlertRules,
  renderPrometheusConfig,
  renderWebConfig,
} from "./src/prometheus-config.ts";
import { READER_NAME } from "./src/reader-name.ts";

const NAME = "prometheus";
/** The token by which the coordinator's figures are read; the coordinator has the same one. */
export const SCRAPE_TOKEN = "scrape.token";

function settingsOf({ layout, appliance }: PartFacts): PrometheusSettings {
  const own = (file: string): string => layout.secrets(NAME, file);
  return {
    port: appliance.ports.prometheus ?? DEFAULT_PORTS.prometheus,
    dataDir: layout.data(NAME),
    ...{ configFile: own("prometheus.yml"), webConfigFile: own("web.yml") },
    ...{ rulesFile: own("rules.yml"), tokenFile: own(SCRAPE_TOKEN) },
    ...{ caFile: layout.rootCert, certFile: own("server.crt"), keyFile: own("server.key") },
    door: {
      ...{ address: appliance.address, port: appliance.ports.api, name: appliance.name },
      caFile: layout.trustCert,
    },
    keycloakPort: appliance.ports.keycloakManagement,
  };
}

export const prometheus = defineEngine({
  name: NAME,
  user: 15,
  engine: "prometheus",
  args: (facts) => prometheusFlags(settingsOf(facts)),
  env: prometheusEnvironment,
  files: [
    { name: "prometheus.yml", text: (facts) => renderPrometheusConfig(settingsOf(facts)) },
    { name: "web.yml", text: (facts) => renderWebConfig(settingsOf(facts)) },
    { name: "rules.yml", text: () => renderAlertRules() },
  ],
  after: [],
  port: { of: "prometheus", on: "loopback" },
  sockets: {},
  // The token by which it reads the coordinator's figures.
  secrets: [{ name: SCRAPE_TOKEN, sameAs: { part: "coordinator", name: "own-metrics.token" } }],
  // It asks itself as well, as a reader.
  certificates: [{ name: "server", dnsNames: ["localhost", "127.0.0.1", READER_NAME] }],
  health: { httpsPath: "/-/ready", shows: "server" },
  settings: [],
  data: { isBackedUp: false },
  firstBytes: 1_024 ** 3,
  // What it did not write yet is in its log, and read at the next start.
  start: { timeoutMs: 120_000 },
  stop: { graceMs: 30_000 },
  // Figures go before work does.
  inShortage: "first",
});
