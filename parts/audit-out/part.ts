/** Reads the log and hands it on: searches, exports, witnesses, receivers of the customer's. Nothing waits for it but searches. */
import { AuditOutConfig, LogReceivers } from "@resontech/contracts/audit-out-config";
import { defineFrameless } from "@resontech/frame/define-part";

const NAME = "audit-out";
/** Receivers of the log are named here, in root's own file, and nowhere else; audit-out checks what stands there. */
const RECEIVERS_FILE = "audit-sinks.json";

export const auditOut = defineFrameless({
  name: NAME,
  user: 3,
  program: "audit-out.mjs",
  after: ["auditd"],
  ownConfig: {
    schema: AuditOutConfig,
    from: ({ layout, read, socket }) => {
      const receivers: LogReceivers = JSON.parse(read(layout.setting(RECEIVERS_FILE)) ?? "{}");
      return {
        sinks: receivers.sinks ?? [],
        worm: receivers.worm ?? null,
        auditDir: layout.data("audit"),
        policyFile: layout.data("audit", "audit.policy"),
        stateDir: layout.data(NAME),
        auditSocket: socket("auditd", NAME),
        searchSocket: socket(NAME, "search"),
        tokensSocket: socket("vault", "tokens"),
        witnessCaFile: receivers.witnessCaFile ?? null,
        pollMs: 250,
        retryMs: 1_000,
        logLevel: "info",
      };
    },
  },
  sockets: {
    search: { for: "coordinator", speaks: "JSON lines", at: ["audit", "search", "sock"] },
  },
  certificates: [],
  health: { endsConnections: ["search"] },
  settings: [{ file: RECEIVERS_FILE, schema: LogReceivers }],
  data: { isBackedUp: false },
  firstBytes: 32 * 1024 ** 2,
  audit: [{ producer: NAME, family: NAME }],
  stop: { graceMs: 15_000 },
  inShortage: "middle",
  loads: ["app/node_modules/better-sqlite3/", "app/audit-scrub.mjs"],
});
