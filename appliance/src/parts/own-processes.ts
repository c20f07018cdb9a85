/** Our own processes: auditd, coordinator, agent. */
import { access } from "node:fs/promises";
import { chownSync, chmodSync, mkdirSync } from "node:fs";
import { containerEngineParts, type PartContext } from "./context.ts";
import { acceptsUnix, httpsStatus } from "./health.ts";
import type { Part } from "./part.ts";
import { processPart } from "./process-part.ts";
import { uidOf } from "../layout.ts";

/** Each producer's socket of auditd: who may open one is decided by its folder's group. `appliance` is this command, root. */
export const AUDIT_PRODUCERS = ["coordinator-gate", "coordinator-record", "appliance"] as const;

export function auditdPart(context: PartContext): Part {
  const { config, layout, release } = context;
  return processPart(context, {
    name: "auditd",
    after: [],
    user: "auditd",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "auditd.mjs"), "--config", layout.processConfig("auditd")],
    port: null,
    version: release.version,
    prepare: async () => {
      for (const producer of AUDIT_PRODUCERS) {
        const folder = layout.run("audit", producer);
        mkdirSync(folder, { recursive: true });
        chownSync(folder, uidOf(config, "auditd"), producer === "appliance" ? 0 : uidOf(config, "coordinator"));
        // Set-group-id: the socket gets the producer's group without auditd being a member of it.
        chmodSync(folder, 0o2750);
      }
    },
    isHealthy: async () =>
      (await Promise.all(AUDIT_PRODUCERS.map((producer) => acceptsUnix(layout.run("audit", producer, "sock"))))).every(Boolean),
  });
}

export function coordinatorPart(context: PartContext): Part {
  const { config, layout, release } = context;
  return processPart(context, {
    name: "coordinator",
    after: ["nats", "s3", "auditd"],
    user: "coordinator",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "coordinator.mjs"), "--config", layout.processConfig("coordinator")],
    port: config.ports.api,
    version: release.version,
    prepare: async () => {
      const folder = layout.run("coordinator");
      mkdirSync(folder, { recursive: true });
      chownSync(folder, uidOf(config, "coordinator"), uidOf(config, "coordinator"));
      chmodSync(folder, 0o700);
    },
    isHealthy: async () =>
      (await httpsStatus({
        host: config.address,
        port: config.ports.api,
        path: "/healthz",
        servername: config.name,
        caFile: layout.rootCert,
      })) === 200,
  });
}

export function agentPart(context: PartContext): Part {
  const { layout, release } = context;
  return processPart(context, {
    name: "agent",
    after: ["coordinator", "registry", ...containerEngineParts(context)],
    user: "root",
    program: layout.release("bin", "node"),
    args: [layout.release("app", "agent.mjs"), "--config", layout.processConfig("agent")],
    port: null,
    version: release.version,
    // It has joined once it holds its certificate; whether its beats are answered, `status` asks the coordinator.
    isHealthy: async () =>
      await access(layout.data("agent", "node.crt")).then(
        () => true,
        () => false,
      ),
    stopGraceMs: 45_000,
  });
}
