import type { MemberBridge, MemberPayload } from "@resontech/contracts/agent-protocol";
import { KIT_FILES, RUNNER_COMMAND, RUNNER_OUTPUTS } from "@resontech/contracts/runner";

export type TestRole = { kind: "server" } | { kind: "client"; index: number; site: string };

export type TestFederation = {
  sites?: string[];
  isResumable?: boolean;
  returnsSiteFiles?: boolean;
  bridge?: MemberBridge;
};

const SERVER = { name: "fl-server", port: 8102 } as const;

/** What the coordinator tells of a federation's member, as far as the test payload and the agent look at it. */
export function federationPayload(
  job: string,
  role: TestRole,
  federation: TestFederation = {},
): MemberPayload {
  const { sites = ["site-1"], bridge } = federation;
  const isServer = role.kind === "server";
  const leaf = { identity: "member", key: KIT_FILES.key, certificate: KIT_FILES.cert } as const;
  const admin = {
    identity: "admin",
    key: KIT_FILES.adminKey,
    certificate: KIT_FILES.adminCert,
  } as const;
  const spec = {
    ...{ formatVersion: 1, role: role.kind, job, sites, site: isServer ? null : role.site },
    ...{ serverName: SERVER.name, serverPort: bridge?.kind === "dial" ? bridge.port : SERVER.port },
  };
  return {
    command: [...RUNNER_COMMAND],
    environment: {},
    files: [{ name: "spec.json", text: JSON.stringify(spec) }],
    certificates: { root: KIT_FILES.rootCert, leaves: isServer ? [leaf, admin] : [leaf] },
    network: { shape: "hub", index: isServer ? null : role.index, ...SERVER },
    sites,
    outputs: isServer ? serverOutputs(federation) : siteOutputs(role.site, federation),
  };
}

function serverOutputs({ isResumable = false }: TestFederation): MemberPayload["outputs"] {
  return {
    logs: [
      { file: RUNNER_OUTPUTS.trainingLog, key: "files_out/training_log.txt" },
      { file: RUNNER_OUTPUTS.metrics, key: "files_out/metrics.jsonl" },
    ],
    printed: null,
    models: "model_out",
    files: { folder: "files_out", site: "server" },
    checkpoints: isResumable,
  };
}

function siteOutputs(
  site: string,
  { returnsSiteFiles = false }: TestFederation,
): MemberPayload["outputs"] {
  return {
    logs: [],
    printed: `files_out/logs/${site}.log`,
    models: null,
    files: returnsSiteFiles ? { folder: `files_out/sites/${site}`, site } : null,
    checkpoints: false,
  };
}
