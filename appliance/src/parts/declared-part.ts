/** A process as its declaration in `parts/` says: its sockets' folders, its start, its health, its end. */
import { dirname } from "node:path";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import {
  heldSocketOf,
  type PartDeclaration,
  type Peer,
  socketOf,
} from "@resontech/frame/define-part";
import { HEALTH_PATH } from "@resontech/frame/serve";
import { ensureFolder, type Owner, ROOT } from "../config/owned-file.ts";
import { HeldSocket } from "./held-socket.ts";
import { uidOf } from "@resontech/frame/layout";
import type { PartContext } from "./context.ts";
import { type HttpsAnswer, httpsGet, unixHttpStatus } from "./health.ts";
import type { Part } from "./part.ts";
import { processPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";

/** The kernel ends none of these first, and none of them last. */
const OOM_SCORE = 0;

export function declaredPart(context: PartContext, declaration: PartDeclaration): Part {
  const { config, layout, release } = context;
  const { name, after, program, sockets, health, stop, isVital } = declaration;
  const ownerOf = (peer: Peer): Owner => ({
    uid: config.uidBase + declaration.user,
    gid: peer === "root" ? ROOT.gid : uidOf(config, peer),
  });
  const held = heldSocketOf(declaration);
  return processPart(context, {
    ...{ name, after, user: declaration.user },
    program: layout.release("bin", "node"),
    args: [
      ...(declaration.nodeFlags ?? []),
      ...[layout.release("app", program), "--config", layout.processConfig(name)],
      ...(held === null ? [] : ["--listen-fd", "3"]),
    ],
    ...(held === null
      ? {}
      : {
          socket: new HeldSocket(socketOf(declaration, layout, held), ownerOf(sockets[held]!.for)),
        }),
    port: portOf(context, declaration),
    version: release.version,
    prepare: async () => {
      ensureFolder(layout.run(name), ROOT, 0o755);
      for (const [socket, { for: peer }] of Object.entries(sockets))
        makeSocketFolder(dirname(socketOf(declaration, layout, socket)), ownerOf(peer));
    },
    isHealthy: async () =>
      ("socket" in health
        ? await unixHttpStatus(socketOf(declaration, layout, health.socket), HEALTH_PATH)
        : (await askPort(context, declaration, health.httpsPath))?.status) === 200,
    stopGraceMs: stop.graceMs,
    ...(isVital ? {} : { oomScore: OOM_SCORE }),
  });
}

/** `GET path` of the part's own port; null where it does not answer. */
export async function askPort(
  context: Pick<PartContext, "config" | "layout">,
  declaration: Pick<PartDeclaration, "name" | "port">,
  path: string,
): Promise<HttpsAnswer | null> {
  const port = portOf(context, declaration);
  if (port === null) throw new TypeError(`${declaration.name} declares no port`);
  const { config, layout } = context;
  return await httpsGet({
    ...{ host: config.address, port, path, servername: config.name },
    caFile: layout.trustCert,
  });
}

function portOf(
  { config }: Pick<PartContext, "config">,
  { port }: Pick<PartDeclaration, "port">,
): number | null {
  return port === undefined ? null : (config.ports[port] ?? DEFAULT_PORTS[port]);
}
