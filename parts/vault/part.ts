/** Takes over from auditd what opens commitments, and destroys it in time. Nobody waits for it, and root alone asks it. */
import { AUDIT_KEYS_FILE, auditKeysIn, vaultKeyOf } from "@resontech/contracts/audit-keys";
import { type RetentionClasses, VaultConfig } from "@resontech/contracts/vault-config";
import { defineFrameless, type PartFacts } from "@resontech/frame/define-part";
import { vaultFindings } from "./src/findings.ts";

const NAME = "vault";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function keysOf({ layout, read }: PartFacts): ReturnType<typeof auditKeysIn> {
  return auditKeysIn(read(layout.setting(AUDIT_KEYS_FILE)));
}

/** How long leaves and what opens them are kept: as the site says, else as the product does. */
export function retentionOf({ appliance, layout, read }: PartFacts): RetentionClasses {
  return (
    appliance.retention ??
    JSON.parse(read(layout.release("app", "policies", "retention.json")) ?? "null")
  );
}

export const vault = defineFrameless({
  name: NAME,
  user: 4,
  program: "vault.mjs",
  after: ["auditd"],
  ownConfig: {
    schema: VaultConfig,
    from: (facts) => {
      const { layout, appliance, secret, socket } = facts;
      return {
        dataDir: layout.data("vault"),
        keysDir: layout.data("vault-keys"),
        keyFile: secret(NAME, "key-encryption.key"),
        ...vaultKeyOf(keysOf(facts) ?? {}, `${appliance.appliance}.vault.${appliance.customer}`),
        epochsDir: layout.data("vault-epochs"),
        backupsDir: layout.data("vault-key-copies"),
        stepUpKeysFile: layout.stepUpKeysFile,
        auditSocket: socket("auditd", NAME),
        controlSocket: socket(NAME, "control"),
        tokensSocket: socket(NAME, "tokens"),
        retention: retentionOf(facts),
        pollMs: 1_000,
        backupMs: 6 * HOUR_MS,
        epochMs: 7 * DAY_MS,
        epochLifeMs: 30 * DAY_MS,
        logLevel: "info",
      };
    },
  },
  sockets: {
    control: { for: "root", speaks: "questions over HTTP", at: ["vault", "sock"] },
    tokens: { for: "audit-out", speaks: "questions over HTTP", at: ["vault-tokens", "sock"] },
  },
  keepsSecrets: true,
  certificates: [],
  health: { endsConnections: ["control"] },
  settings: [],
  choices: ["retention"],
  data: {
    isBackedUp: "apart",
    // Put back to an older state, it would need its holds confirmed again; without the keys that stayed at home nobody can open it.
    onRestore: "home-alone",
    // What an ordinary backup may hold, and, apart from it, what none may.
    folders: ["vault", "vault-keys", "vault-epochs", "vault-key-copies"].map((name) => ({
      ...{ name, mode: 0o700 },
    })),
  },
  firstBytes: 16 * 1024 ** 2,
  audit: [{ producer: NAME, family: NAME }],
  findings: { log: vaultFindings },
  // It makes its database anew after what it destroyed; a write waits for that, and all behind it: started afresh, it would begin anew as well.
  silenceLimitMs: HOUR_MS,
  stop: { graceMs: 15_000 },
  inShortage: "middle",
  loads: [
    ...["app/node_modules/better-sqlite3/", "app/audit-scrub.mjs"],
    ...["app/node_modules/pkcs11js/", "app/audit-token.mjs"],
  ],
  env: (facts) => keysOf(facts)?.environment ?? {},
});
