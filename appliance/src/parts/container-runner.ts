import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type Docker from "dockerode";
import type { Layout } from "@resontech/frame/layout";
import type { Running } from "./part.ts";
import {
  identify,
  signalProcess,
  type StopSignal,
  untilGone,
  writePidFile,
} from "./process-identity.ts";

export type ContainerSpec = {
  name: string;
  /** `<registry>/<repository>@sha256:…` */
  image: string;
  user: string;
  env: Readonly<Record<string, string>>;
  entrypoint?: readonly string[];
  args: readonly string[];
  /** `host:container[:ro]` */
  binds: readonly string[];
  tmpfs: readonly string[];
  memoryBytes: number;
  /** What the program takes for a clean end. */
  stopSignal: StopSignal;
  logFile: string;
  pidFile: string;
  /** Label by which everything of this instance is found again. */
  instance: string;
  engineKind: "podman" | "docker";
};

export const containerName = ({ instance }: Layout, part: string): string =>
  `rt-${instance}-${part}`;

/** Label on every container of the appliance itself; jobs carry the agent's labels. */
const PART_LABEL = "tech.reson.part-of";

/** Removes a container of that name, whatever its state; none is fine. */
export async function removeContainer(engine: Docker, name: string): Promise<void> {
  try {
    await engine.getContainer(name).remove({ force: true });
  } catch (error) {
    if (
      !(
        error instanceof Error &&
        "statusCode" in error &&
        (error.statusCode === 404 || error.statusCode === 409)
      )
    )
      throw error;
  }
}

/**
 * Starts an engine's container on the host's network: it binds loopback alone, by its own configuration. Once it runs it is watched and
 * signalled as the process that it is, so it lives through a restart of the container engine's service. (Podman 4's answer to the Docker
 * call `wait` is a loop without a pause, which costs a core for each container.)
 */
export async function startContainer(engine: Docker, spec: ContainerSpec): Promise<Running> {
  const container = await engine.createContainer({
    name: spec.name,
    Image: spec.image,
    User: spec.user,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(spec.entrypoint === undefined ? {} : { Entrypoint: [...spec.entrypoint] }),
    Cmd: [...spec.args],
    Labels: { [PART_LABEL]: spec.instance },
    HostConfig: {
      NetworkMode: "host",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Binds: [...spec.binds],
      Tmpfs: Object.fromEntries(spec.tmpfs.map((path) => [path, "rw,size=256m,mode=1777"])),
      Memory: spec.memoryBytes,
      RestartPolicy: { Name: "no" },
      LogConfig: logConfig(spec),
    },
  });
  await container.start();
  const { State } = await container.inspect();
  const identity = identify(State.Pid);
  if (identity === null) {
    const ended = await container.inspect();
    return {
      pid: null,
      exited: Promise.resolve(`exit ${ended.State.ExitCode}`),
      stop: () => {},
      kill: () => {},
    };
  }
  writePidFile(spec.pidFile, identity);
  const image = await manifestOf(engine, container, spec.image);
  const exited = untilGone(identity).then(async () => {
    rmSync(spec.pidFile, { force: true });
    return await howItEnded(container);
  });
  return {
    pid: identity.pid,
    image,
    exited,
    stop: () => signalProcess(identity.pid, spec.stopSignal),
    kill: () => signalProcess(identity.pid, "SIGKILL"),
  };
}

/** What the engine itself has it by; where it has several digests, the one that was asked for if that is one of them. Null where it says none. */
async function manifestOf(
  engine: Docker,
  container: Docker.Container,
  wanted: string,
): Promise<string | null> {
  const { Image } = await container.inspect();
  const { RepoDigests } = await engine.getImage(Image).inspect();
  const digests = RepoDigests.map(
    (reference) => /@sha256:([0-9a-f]{64})$/.exec(reference)?.[1] ?? null,
  );
  return digests.find((digest) => digest !== null && wanted.endsWith(digest)) ?? digests[0] ?? null;
}

/** Podman's monitor writes our file by itself; Docker keeps its own, bounded (`docker logs`). */
function logConfig({ engineKind, logFile }: ContainerSpec): {
  Type: string;
  Config: Record<string, string>;
} {
  if (engineKind === "docker")
    return { Type: "json-file", Config: { "max-size": "16m", "max-file": "4" } };
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o750 });
  closeSync(openSync(logFile, "a", 0o640));
  return { Type: "k8s-file", Config: { path: logFile } };
}

async function howItEnded(container: Docker.Container): Promise<string> {
  try {
    const { State } = await container.inspect();
    return State.OOMKilled ? "out of memory" : `exit ${State.ExitCode}`;
  } catch {
    // The engine's service is down too; that the process is gone is what counts.
    return "ended";
  }
}
