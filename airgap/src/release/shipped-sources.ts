/** Of which sources in this tree each of our files below `app/` of a release is made. */

/** Process → its entry. The verifier alone must run under any Node from 20 on an auditor's machine. */
export const ENTRIES: Readonly<Record<string, { source: string; target: string }>> = {
  "app/coordinator.mjs": { source: "parts/coordinator/src/server.ts", target: "node26" },
  "app/coordinator-log-search.mjs": {
    source: "parts/coordinator/src/outputs/log-search/search-thread.ts",
    target: "node26",
  },
  "app/policy-trial.mjs": {
    source: "parts/coordinator/src/policy-trial/main.ts",
    target: "node26",
  },
  "app/follower.mjs": { source: "appliance/src/backup/follower/main.ts", target: "node26" },
  "app/s3-front.mjs": { source: "parts/s3-front/src/main.ts", target: "node26" },
  "app/auditd.mjs": { source: "parts/auditd/src/main.ts", target: "node26" },
  "app/audit-out.mjs": { source: "parts/audit-out/src/main.ts", target: "node26" },
  "app/vault.mjs": { source: "parts/vault/src/main.ts", target: "node26" },
  "app/audit-token.mjs": { source: "audit/src/keys/token-program.ts", target: "node26" },
  "app/audit-scrub.mjs": { source: "audit/src/scrub/scrub-thread.ts", target: "node26" },
  "app/sov-verify.mjs": { source: "verifier/src/main.ts", target: "node20" },
  "app/witness.mjs": { source: "parts/witness/src/main.ts", target: "node20" },
  "app/serving.mjs": { source: "parts/inference-gateway/src/main.ts", target: "node26" },
  "app/notifier.mjs": { source: "parts/notifier/src/main.ts", target: "node26" },
  "app/agent.mjs": { source: "parts/agent/src/main.ts", target: "node26" },
  "app/agent-transfers.mjs": {
    source: "parts/agent/src/off-thread/transfer-thread.ts",
    target: "node26",
  },
  "app/appliance.mjs": { source: "appliance/src/main.ts", target: "node26" },
  "app/appliance-node.mjs": { source: "appliance/src/node/main.ts", target: "node26" },
  "app/resontech.mjs": { source: "cli/src/main.ts", target: "node20" },
  "app/installer.mjs": { source: "installer/src/main.ts", target: "node26" },
};

/** `index.html` and `assets/`, as the coordinator serves them. */
export const DASHBOARD = "app/dashboard";
/** The verifier again, for an auditor who has a browser and no Node. */
export const VERIFIER_PAGE = "app/sov-verify.html";

/** What ships as it is: path in the release → path in this tree. Of native packages only the binary that runs on the appliance. */
export const COPIED: Readonly<Record<string, string>> = {
  "app/runners": "parts/agent/runners",
  "app/policies/realm.json": "policies/realm.json",
  "app/policies/cedar": "policies/cedar",
  "app/policies/controls.json": "policies/controls.json",
  "app/policies/retention.json": "policies/retention.json",
  "app/runbooks": "docs/operator/runbooks",
  "app/grafana/appliance.json": "parts/prometheus/grafana/appliance.json",
  "app/node_modules/@cedar-policy/cedar-wasm/package.json":
    "node_modules/@cedar-policy/cedar-wasm/package.json",
  "app/node_modules/@cedar-policy/cedar-wasm/nodejs":
    "node_modules/@cedar-policy/cedar-wasm/nodejs",
  "app/node_modules/better-sqlite3/package.json": "node_modules/better-sqlite3/package.json",
  "app/node_modules/better-sqlite3/LICENSE": "node_modules/better-sqlite3/LICENSE",
  "app/node_modules/better-sqlite3/lib": "node_modules/better-sqlite3/lib",
  "app/node_modules/better-sqlite3/prebuilds/linux-x64.node":
    "node_modules/better-sqlite3/prebuilds/linux-x64.node",
  "app/node_modules/pkcs11js/package.json": "node_modules/pkcs11js/package.json",
  "app/node_modules/pkcs11js/LICENSE": "node_modules/pkcs11js/LICENSE",
  "app/node_modules/pkcs11js/index.js": "node_modules/pkcs11js/index.js",
  "app/node_modules/pkcs11js/build/Release/pkcs11.node":
    "node_modules/pkcs11js/build/Release/pkcs11.node",
};

/** Source of one program's entry: `auditd` → `parts/auditd/src/main.ts`. @throws Error for a name that no program has */
export function programSource(name: string): string {
  return entryOf(name).source;
}

/** @throws Error for a name that no program has */
export function entryOf(name: string): { source: string; target: string } {
  const entry = ENTRIES[`app/${name}.mjs`];
  if (entry === undefined) throw new Error(`no program is named ${name}`);
  return entry;
}
