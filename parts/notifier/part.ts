/** Takes alerts and the ends of jobs to people: by mail, webhook and syslog. Nobody's work waits for it. */
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import { definePart, factsFrom } from "@resontech/frame/define-part";
import { READER_NAME } from "@resontech/prometheus/reader-name";
import { AlertTargets, secretFilesOf } from "./src/alert-targets.ts";
import { NotifierConfig } from "./src/config.ts";
import { listTargets, mailToPerson, sendTestAlert } from "./src/operations.ts";

export const ALERT_TARGETS_FILE = "alerts.json";

export const notifier = definePart({
  name: "notifier",
  user: 7,
  program: "notifier.mjs",
  after: [],
  config: {
    schema: NotifierConfig,
    from: ({ layout, appliance: { appliance, ports } }) => ({
      appliance,
      prometheus: {
        port: ports.prometheus ?? DEFAULT_PORTS.prometheus,
        caFile: layout.rootCert,
        certFile: layout.secrets("notifier", "reader.crt"),
        keyFile: layout.secrets("notifier", "reader.key"),
      },
      targetsFile: layout.setting(ALERT_TARGETS_FILE),
      secretsDir: layout.secrets("notifier"),
      rootCertFile: layout.rootCert,
      runbooksDir: layout.release("app", "runbooks"),
      pollMs: 15_000,
    }),
  },
  sockets: {
    control: { for: "root", serves: [listTargets, sendTestAlert] },
    mail: { for: "coordinator", serves: [mailToPerson] },
  },
  // Prometheus answers this name alone.
  certificates: [{ name: "reader", dnsNames: [READER_NAME] }],
  health: { socket: "control" },
  settings: [
    {
      file: ALERT_TARGETS_FILE,
      schema: AlertTargets,
      isFollowed: true,
      needs: (value) => (value as AlertTargets).targets.flatMap(secretFilesOf),
    },
  ],
  data: { isBackedUp: true },
  firstBytes: 16 * 1024 ** 2,
  facts: factsFrom("control", listTargets, {}, ({ targets, alerts }) => ({
    targets: targets.map(({ name, failure }) => ({ target: name, isFailing: failure !== null })),
    alerts: alerts.slice(0, 128),
  })),
  // A message under way is waited for.
  stop: { graceMs: 30_000 },
  inShortage: "middle",
});
