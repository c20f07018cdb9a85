import { existsSync } from "node:fs";
import { ROOT } from "../config/owned-file.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import type { ReleaseContext } from "./context.ts";
import { closesConnection } from "./health.ts";
import type { Part } from "./part.ts";
import { rootPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";

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
