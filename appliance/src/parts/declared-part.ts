/** A process or container as its declaration in `parts/` says: its sockets' folders, its start, its health, its end. */
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import {
  type ContainerPart,
  type EnginePart,
  type HealthDeclaration,
  heldSocketOf,
  type HostPart,
  type PartDeclaration,
  type Peer,
  secretOf,
  socketOf,
  userOf,
} from "@resontech/frame/define-part";
import { partNamed } from "@resontech/frame/part-facts";
import { HEALTH_PATH } from "@resontech/frame/serve";
import { ensureFolder, type Owner, ROOT } from "../config/owned-file.ts";
import { runOnce } from "./run-once.ts";
import { type ContainerEngine, containerPart } from "./container-part.ts";
import { engineVersion, type PartContext } from "./context.ts";
import { configFilesOf } from "./derived-config.ts";
import { HeldSocket } from "./held-socket.ts";
import {
  closesConnection,
  firstBytes,
  type HttpsAnswer,
  httpsGet,
  unixHttpStatus,
} from "./health.ts";
import { hostPart } from "./host-part.ts";
import { jobHostOf } from "./job-host-of.ts";
import { OOM_SCORES } from "./oom-scores.ts";
import { overlappedPart } from "./overlapped-part.ts";
import type { Part } from "./part.ts";
import { signalRecorded } from "./process-identity.ts";
import { type ProcessPart, processPart } from "./process-part.ts";
import { partFactsOf } from "./part-facts-of.ts";
import { makeSocketFolder } from "./socket-folder.ts";

const LOOPBACK = "127.0.0.1";

/** @param containers by which those that are containers are run */
export function declaredPart(
  context: PartContext,
  declaration: PartDeclaration,
  containers?: ContainerEngine,
): Part {
  if ("hosts" in declaration) return hostPart(context, jobHostOf(context), declaration);
  if ("image" in declaration) {
    if (containers === undefined) throw new TypeError(`${declaration.name} is a container`);
    return declaredContainer(context, declaration, containers);
  }
  return declaredProcess(context, declaration);
}

const START_MS = 60_000;

function declaredContainer(
  context: PartContext,
  declaration: ContainerPart,
  containers: ContainerEngine,
): Part {
  const { name, after, start, stop } = declaration;
  return {
    ...{ name, after },
    ...containerPart(context, containers, declaration),
    port: portOf(context, declaration),
    version: engineVersion(context, name),
    isHealthy: () => isHealthy(context, declaration),
    startTimeoutMs: start?.timeoutMs ?? START_MS,
    stopGraceMs: stop.graceMs,
  };
}

type ProcessDeclaration = Exclude<PartDeclaration, ContainerPart | HostPart>;

function declaredProcess(context: PartContext, declaration: ProcessDeclaration): Part {
  const { config, layout } = context;
  const { name, after, sockets, start, silenceLimitMs, stop, inShortage } = declaration;
  const uid = userOf(config, declaration);
  const held = heldSocketOf(declaration);
  const program = programOf(context, declaration, held);
  const { env } = program;
  const part = processPart(context, {
    ...{ name, after, user: declaration.user, ...program },
    reads: configFilesOf(declaration, layout),
    ...(declaration.loads === undefined ? {} : { loads: declaration.loads }),
    ...(held === null
      ? {}
      : {
          socket: new HeldSocket(
            socketOf(declaration, layout, held),
            socketOwner(context, declaration, sockets[held]!.for),
          ),
        }),
    port: portOf(context, declaration),
    prepare: async () => {
      makeSocketFolders(context, declaration);
      for (const { args, unless } of start?.after?.(partFactsOf(context)) ?? [])
        if (unless === undefined || !existsSync(unless))
          await runOnce(program.program, [...program.before, ...args], uid, env());
    },
    isHealthy: () => isHealthy(context, declaration),
    ...(start?.timeoutMs === undefined ? {} : { startTimeoutMs: start.timeoutMs }),
    ...(silenceLimitMs === undefined ? {} : { silenceLimitMs }),
    stopGraceMs: stop.graceMs,
    oomScore: OOM_SCORES[inShortage],
  });
  return stop.drain === undefined ? part : overlappedPart(part, layout, stop.drain);
}

/** The group of a socket's folder: whose processes may open it. */
function socketOwner({ config, parts }: PartContext, part: PartDeclaration, peer: Peer): Owner {
  const gid = peer === "root" ? ROOT.gid : userOf(config, partNamed(parts, peer));
  return { uid: userOf(config, part), gid };
}

function makeSocketFolders(context: PartContext, declaration: PartDeclaration): void {
  const { layout } = context;
  ensureFolder(layout.run(declaration.name), ROOT, 0o755);
  for (const [name, { for: peer }] of Object.entries(declaration.sockets)) {
    const path = socketOf(declaration, layout, name);
    ensureFolder(dirname(dirname(path)), ROOT, 0o755);
    makeSocketFolder(dirname(path), socketOwner(context, declaration, peer), peer === "root");
    // Not every program replaces what a killed one left.
    if ("engine" in declaration) rmSync(path, { force: true });
  }
}

/** @property before what comes before the arguments of any run of it */
type Program = Pick<ProcessPart, "program" | "args" | "version"> & {
  before: readonly string[];
  env: () => Record<string, string>;
};

function programOf(
  context: PartContext,
  declaration: ProcessDeclaration,
  held: string | null,
): Program {
  const { layout, release } = context;
  const env = (): Record<string, string> => declaration.env?.(partFactsOf(context)) ?? {};
  if ("engine" in declaration) return { ...engineOf(context, declaration), before: [], env };
  const { name, nodeFlags = [], program } = declaration;
  const before = [...nodeFlags, layout.release("app", program)];
  return {
    ...{ program: layout.release("bin", "node"), before, env },
    args: [
      ...[...before, "--config", layout.processConfig(name)],
      ...(held === null ? [] : ["--listen-fd", "3"]),
    ],
    version: release.version,
  };
}

function engineOf(
  context: PartContext,
  { engine, program = engine, args }: EnginePart,
): Pick<Program, "program" | "args" | "version"> {
  return {
    program: context.layout.release("engines", program),
    args: args(partFactsOf(context)),
    version: engineVersion(context, engine),
  };
}

async function isHealthy(
  context: PartContext,
  declaration: ProcessDeclaration | ContainerPart,
): Promise<boolean> {
  const { layout } = context;
  const health: HealthDeclaration = declaration.health;
  if ("socket" in health) {
    const path = socketOf(declaration, layout, health.socket);
    return (await unixHttpStatus(path, HEALTH_PATH, health.headers)) === 200;
  }
  if ("endsConnections" in health) {
    const ended = health.endsConnections.map((socket) =>
      closesConnection(socketOf(declaration, layout, socket)),
    );
    return (await Promise.all(ended)).every(Boolean);
  }
  if ("greeting" in health) {
    const port = requirePort(context, declaration);
    const said = await firstBytes(hostOf(context, declaration), port, health.asked);
    return health.greeting.test(said?.toString() ?? "");
  }
  const answer = await askPort(context, declaration, health.httpsPath);
  if (answer?.status !== (health.status ?? 200)) return false;
  const { certificateChange } = declaration;
  if (certificateChange?.toldBy === "health")
    if (answer.fingerprint !== fingerprintOf(secretOf(declaration, layout, "server.crt")))
      signalRecorded(layout.run(`${declaration.name}.pid`), certificateChange.signal);
  return true;
}

/** Answers the fingerprint (SHA-256) of the first certificate in the file, which is the server's own. */
function fingerprintOf(file: string): string {
  return new X509Certificate(readFileSync(file)).fingerprint256;
}

type Asked = Pick<PartContext, "config" | "layout">;

/** `GET path` of the part's own port; null where it does not answer. */
export async function askPort(
  context: Asked,
  declaration: Pick<PartDeclaration, "name" | "port" | "secretsFolder" | "health">,
  path: string,
): Promise<HttpsAnswer | null> {
  const { config, layout } = context;
  const { health } = declaration;
  const isOnLoopback = declaration.port?.on === "loopback";
  const { shows, port } = "httpsPath" in health ? health : { shows: undefined, port: undefined };
  const read = (ending: string): Buffer =>
    readFileSync(
      typeof shows === "object"
        ? layout.secrets(shows.folder, `${shows.name}.${ending}`)
        : secretOf(declaration, layout, `${shows}.${ending}`),
    );
  return await httpsGet({
    ...{ host: hostOf(context, declaration), path },
    port: port === undefined ? requirePort(context, declaration) : config.ports[port]!,
    ...(isOnLoopback
      ? { servername: "localhost", caFile: layout.rootCert }
      : { servername: config.name, caFile: layout.trustCert }),
    ...(shows === undefined ? {} : { client: { cert: read("crt"), key: read("key") } }),
  });
}

function hostOf({ config }: Asked, { port }: Pick<PartDeclaration, "port">): string {
  return port?.on === "loopback" ? LOOPBACK : config.address;
}

/** @throws TypeError */
function requirePort(context: Asked, declaration: Pick<PartDeclaration, "name" | "port">): number {
  const port = portOf(context, declaration);
  if (port === null) throw new TypeError(`${declaration.name} declares no port`);
  return port;
}

function portOf(
  { config }: Pick<PartContext, "config">,
  { port }: Pick<PartDeclaration, "port">,
): number | null {
  return port === undefined ? null : (config.ports[port.of] ?? DEFAULT_PORTS[port.of]);
}
