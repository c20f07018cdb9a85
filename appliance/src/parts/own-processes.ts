/** Our own processes: auditd, audit-out, vault, S3 front, coordinator, follower, agent. */
import { chownSync, chmodSync, existsSync, mkdirSync } from "node:fs";
import { COORDINATOR_NODE_FLAGS } from "@resontech/contracts/coordinator-config";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import { inferenceGateway } from "@resontech/inference-gateway/part";
import { s3Front } from "@resontech/s3-front/part";
import { isBackupScheduled } from "../backup/backup-schedule.ts";
import { readFollowed } from "../backup/follow-state.ts";
import { readAuditKeys } from "../config/audit-keys.ts";
import { ROOT } from "../config/owned-file.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import { apiSocket, makeApiSocketFolder } from "./api-socket.ts";
import { auditProducers } from "./audit-producers.ts";
import type { PartContext, ReleaseContext } from "./context.ts";
import { closesConnection, unixHttpStatus } from "./health.ts";
import type { Part } from "./part.ts";
import { processPart, rootPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";
import { uidOf } from "@resontech/frame/layout";

const SQLITE = "app/node_modules/better-sqlite3/";
const CEDAR = "app/node_modules/@cedar-policy/cedar-wasm/";
const POLICIES = "app/policies/cedar/";
const PKCS11 = "app/node_modules/pkcs11js/";
const LOG_SEARCH_THREAD = "app/coordinator-log-search.mjs";
const SCRUB_THREAD = "app/audit-scrub.mjs";
const TOKEN_PROGRAM = "app/audit-token.mjs";
/** It holds few things for long. */
const FOLLOWER_NODE_FLAGS = ["--max-old-space-size=256", "--max-semi-space-size=4"];
const FOLLOWER_SILENCE_MS = 15_000;

export function auditdPart(context: PartContext): Part {
  const { config, layout, release } = context;
  const producers = auditProducers(context);
  return processPart(context, {
    name: "auditd",
    after: [],
    user: "auditd",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "auditd.mjs"), "--config", layout.processConfig("auditd")],
    loads: [PKCS11],
    env: () => readAuditKeys(layout)?.environment ?? {},
    port: null,
    version: release.version,
    prepare: async () => {
      for (const { name, gid } of producers)
        makeSocketFolder(layout.run("audit", name), { uid: uidOf(config, "auditd"), gid });
      const control = layout.run("audit", "control");
      mkdirSync(control, { recursive: true });
      chownSync(control, uidOf(config, "auditd"), uidOf(config, "auditd"));
      chmodSync(control, 0o700);
    },
    isHealthy: async () =>
      (
        await Promise.all(
          producers.map(({ name }) => closesConnection(layout.run("audit", name, "sock"))),
        )
      ).every(Boolean),
  });
}

/** Reads the log and hands it on; nothing waits for it but searches. */
export function auditOutPart(context: PartContext): Part {
  const { config, layout, release } = context;
  return processPart(context, {
    name: "audit-out",
    after: ["auditd"],
    user: "auditOut",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "audit-out.mjs"), "--config", layout.processConfig("audit-out")],
    loads: [SQLITE, SCRUB_THREAD],
    port: null,
    version: release.version,
    prepare: async () =>
      makeSocketFolder(layout.run("audit", "search"), {
        uid: uidOf(config, "auditOut"),
        gid: uidOf(config, "coordinator"),
      }),
    isHealthy: async () => await closesConnection(layout.run("audit", "search", "sock")),
    oomScore: 0,
  });
}

/** Takes over from auditd what opens commitments; nobody waits for it. Root alone asks it on its socket. */
export function vaultPart(context: PartContext): Part {
  const { config, layout, release } = context;
  return processPart(context, {
    name: "vault",
    after: ["auditd"],
    user: "vault",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "vault.mjs"), "--config", layout.processConfig("vault")],
    loads: [SQLITE, SCRUB_THREAD, PKCS11, TOKEN_PROGRAM],
    env: () => readAuditKeys(layout)?.environment ?? {},
    port: null,
    version: release.version,
    prepare: async () => {
      const uid = uidOf(config, "vault");
      makeSocketFolder(layout.run("vault"), { uid, gid: ROOT.gid });
      makeSocketFolder(layout.run("vault-tokens"), { uid, gid: uidOf(config, "auditOut") });
    },
    isHealthy: async () => await closesConnection(layout.run("vault", "sock")),
    // It makes its database anew after what it destroyed; a write waits for that, and all behind it: started afresh, it would begin anew as well.
    silenceLimitMs: 3_600_000,
    oomScore: 0,
  });
}

export function coordinatorPart(context: PartContext): Part {
  const { config, layout, release } = context;
  return processPart(context, {
    name: "coordinator",
    after: ["nats", "s3-front", "auditd"],
    user: "coordinator",
    program: layout.release("bin", "node"),
    args: [
      ...COORDINATOR_NODE_FLAGS,
      layout.release("app", "coordinator.mjs"),
      "--config",
      layout.processConfig("coordinator"),
    ],
    loads: [SQLITE, CEDAR, POLICIES, LOG_SEARCH_THREAD],
    port: null,
    version: release.version,
    prepare: async () => {
      makeApiSocketFolder(context);
      const folder = layout.run("coordinator");
      mkdirSync(folder, { recursive: true });
      chownSync(folder, uidOf(config, "coordinator"), uidOf(config, "coordinator"));
      chmodSync(folder, 0o700);
      makeSocketFolder(layout.run("front"), {
        uid: uidOf(config, "coordinator"),
        gid: config.uidBase + s3Front.user,
      });
      makeSocketFolder(layout.run("routes"), {
        uid: uidOf(config, "coordinator"),
        gid: config.uidBase + inferenceGateway.user,
      });
    },
    isHealthy: async () =>
      (await unixHttpStatus(apiSocket(layout), "/healthz", { [PEER_HEADER]: "127.0.0.1" })) === 200,
  });
}

/** Follows the coordinator's database onto the target of scheduled backups, and runs only where there are some. Nobody's work waits for it. */
export function followerPart(context: PartContext): Part {
  const { layout, release } = context;
  return processPart(context, {
    name: "follower",
    after: ["coordinator"],
    // The target, its credentials and the key that signs are root's.
    user: "root",
    program: layout.release("bin", "node"),
    args: [
      ...FOLLOWER_NODE_FLAGS,
      ...[layout.release("app", "follower.mjs"), "--root", layout.root],
    ],
    loads: [SQLITE],
    port: null,
    version: release.version,
    isWanted: () => isBackupScheduled(layout),
    // That it is behind is said by how far it is; a target that is away does not make it unwell.
    isHealthy: async () => Date.now() - (readFollowed(layout)?.atMs ?? 0) < FOLLOWER_SILENCE_MS,
    oomScore: 0,
  });
}

/** @param after what it waits for on its own host */
export function agentPart(context: ReleaseContext, after: readonly string[]): Part {
  const { layout, release } = context;
  return rootPart(context, {
    name: "agent",
    after,
    program: layout.release("bin", "node"),
    args: [layout.release("app", "agent.mjs"), "--config", layout.processConfig("agent")],
    // Its threads, and what it puts into each job's container.
    loads: ["app/agent-transfers.mjs", "app/runners/", "engines/rt-init"],
    port: null,
    version: release.version,
    env: () => toolsEnvironment(context.config, layout.current),
    prepare: async () => makeSocketFolder(layout.run("agent"), ROOT),
    // It has joined once it holds its certificate; whether its beats are answered, `status` asks the coordinator.
    isHealthy: async () =>
      existsSync(layout.data("agent", "node.crt")) &&
      (await closesConnection(layout.run("agent", "sock"))),
    stopGraceMs: 45_000,
  });
}
