/** A program that needs the host, as its declaration says it: on an appliance's own host, and on nodes. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type HostFacts, type HostPart, socketOf } from "@resontech/frame/define-part";
import type { JobHost } from "@resontech/frame/job-host";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import type { ReleaseContext } from "./context.ts";
import { closesConnection, unixHttpStatus } from "./health.ts";
import { OOM_SCORES } from "./oom-scores.ts";
import type { Part } from "./part.ts";
import { hostFactsOf } from "./part-facts-of.ts";
import { rootPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";

export function hostPart(context: ReleaseContext, host: JobHost, declaration: HostPart): Part {
  const { config, layout, release } = context;
  const { name, after, env, isWanted, loads, runsHostTools, stop, workingFolder } = declaration;
  const facts = hostFactsOf(context, host);
  return rootPart(context, {
    ...{ name, after, port: null, ...declaration.command(facts) },
    ...(loads === undefined ? {} : { loads }),
    version: declaration.version?.(facts) ?? release.version,
    env: () => ({
      ...(runsHostTools === true ? toolsEnvironment(config, layout.current) : {}),
      ...env?.(facts),
    }),
    ...(workingFolder === undefined ? {} : { cwd: workingFolder(layout) }),
    ...(isWanted === undefined ? {} : { isWanted: () => isWanted(facts) }),
    prepare: async () => {
      for (const socket of Object.keys(declaration.sockets))
        makeSocketFolder(dirname(socketOf(declaration, layout, socket)), ROOT);
      declaration.prepare?.(facts);
    },
    isHealthy: () => isHealthy(facts, declaration),
    stopGraceMs: stop.graceMs,
    oomScore: OOM_SCORES[declaration.inShortage],
  });
}

/** What it reads: root's alone. */
export function writeHostConfig(
  context: ReleaseContext,
  host: JobHost,
  { name, hostConfig }: HostPart,
): void {
  if (hostConfig === undefined) return;
  const config: unknown = hostConfig.from(hostFactsOf(context, host));
  const file = context.layout.processConfig(name);
  writeOwned(file, `${JSON.stringify(config, null, 2)}\n`, ROOT, 0o400);
}

async function isHealthy(facts: HostFacts, declaration: HostPart): Promise<boolean> {
  const { health } = declaration;
  const path = (socket: string): string => socketOf(declaration, facts.layout, socket);
  if ("socket" in health) return (await unixHttpStatus(path(health.socket), health.path)) === 200;
  if ("notedAtMs" in health) return Date.now() - (health.notedAtMs(facts) ?? 0) < health.withinMs;
  if (!existsSync(health.file(facts.layout))) return false;
  const ended = health.endsConnections.map((socket) => closesConnection(path(socket)));
  return (await Promise.all(ended)).every(Boolean);
}
