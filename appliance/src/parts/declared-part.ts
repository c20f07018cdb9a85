/** A process as its declaration in `parts/` says: its sockets' folders, its start, its health, its end. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import {
  type EnginePart,
  heldSocketOf,
  type InShortage,
  type OwnPart,
  type PartDeclaration,
  type Peer,
  secretOf,
  socketOf,
} from "@resontech/frame/define-part";
import { HEALTH_PATH } from "@resontech/frame/serve";
import { ensureFolder, type Owner, ROOT } from "../config/owned-file.ts";
import { HeldSocket } from "./held-socket.ts";
import { uidOf } from "@resontech/frame/layout";
import { engineVersion, type PartContext } from "./context.ts";
import { type HttpsAnswer, httpsGet, unixHttpStatus } from "./health.ts";
import type { Part } from "./part.ts";
import { type ProcessPart, processPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";

/** As /proc/PID/oom_score_adj has it. */
const OOM_SCORES: Readonly<Record<InShortage, number>> = { last: -500, middle: 0, first: 300 };
const LOOPBACK = "127.0.0.1";

export function declaredPart(context: PartContext, declaration: PartDeclaration): Part {
  const { config, layout } = context;
  const { name, after, sockets, health, start, stop, inShortage } = declaration;
  const ownerOf = (peer: Peer): Owner => ({
    uid: config.uidBase + declaration.user,
    gid: peer === "root" ? ROOT.gid : uidOf(config, peer),
  });
  const held = heldSocketOf(declaration);
  return processPart(context, {
    ...{ name, after, user: declaration.user },
    ...("program" in declaration
      ? programOf(context, declaration, held)
      : engineOf(context, declaration)),
    ...(held === null
      ? {}
      : {
          socket: new HeldSocket(socketOf(declaration, layout, held), ownerOf(sockets[held]!.for)),
        }),
    port: portOf(context, declaration),
    prepare: async () => {
      ensureFolder(layout.run(name), ROOT, 0o755);
      for (const [socket, { for: peer }] of Object.entries(sockets))
        makeSocketFolder(dirname(socketOf(declaration, layout, socket)), ownerOf(peer));
    },
    isHealthy: async () =>
      ("socket" in health
        ? await unixHttpStatus(socketOf(declaration, layout, health.socket), HEALTH_PATH)
        : (await askPort(context, declaration, health.httpsPath))?.status) === 200,
    ...(start === undefined ? {} : { startTimeoutMs: start.timeoutMs }),
    stopGraceMs: stop.graceMs,
    oomScore: OOM_SCORES[inShortage],
  });
}

type Program = Pick<ProcessPart, "program" | "args" | "env" | "version">;

function programOf(
  { layout, release }: PartContext,
  { name, nodeFlags = [], program }: OwnPart,
  held: string | null,
): Program {
  return {
    program: layout.release("bin", "node"),
    args: [
      ...nodeFlags,
      ...[layout.release("app", program), "--config", layout.processConfig(name)],
      ...(held === null ? [] : ["--listen-fd", "3"]),
    ],
    version: release.version,
  };
}

function engineOf(context: PartContext, { engine, args, env }: EnginePart): Program {
  const { config, layout } = context;
  return {
    program: layout.release("engines", engine),
    args: args({ layout, appliance: config }),
    ...(env === undefined ? {} : { env }),
    version: engineVersion(context, engine),
  };
}

/** `GET path` of the part's own port; null where it does not answer. */
export async function askPort(
  context: Pick<PartContext, "config" | "layout">,
  declaration: Pick<PartDeclaration, "name" | "port" | "secretsFolder" | "health">,
  path: string,
): Promise<HttpsAnswer | null> {
  const port = portOf(context, declaration);
  if (port === null) throw new TypeError(`${declaration.name} declares no port`);
  const { config, layout } = context;
  const isOnLoopback = declaration.port?.on === "loopback";
  const shown = "shows" in declaration.health ? declaration.health.shows : undefined;
  const read = (ending: string): Buffer =>
    readFileSync(secretOf(declaration, layout, `${shown}.${ending}`));
  return await httpsGet({
    ...{ port, path },
    ...(isOnLoopback
      ? { host: LOOPBACK, servername: "localhost", caFile: layout.rootCert }
      : { host: config.address, servername: config.name, caFile: layout.trustCert }),
    ...(shown === undefined ? {} : { client: { cert: read("crt"), key: read("key") } }),
  });
}

function portOf(
  { config }: Pick<PartContext, "config">,
  { port }: Pick<PartDeclaration, "port">,
): number | null {
  return port === undefined ? null : (config.ports[port.of] ?? DEFAULT_PORTS[port.of]);
}
