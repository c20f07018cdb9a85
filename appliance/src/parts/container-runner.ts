import { createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type Docker from "dockerode";
import type { Running } from "./part.ts";

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
  logFile: string;
  /** Label by which everything of this instance is found again. */
  instance: string;
};

/** Label on every container of the appliance itself; jobs carry the agent's labels. */
export const PART_LABEL = "tech.reson.part-of";

/** Removes a container of that name, whatever its state; none is fine. */
export async function removeContainer(engine: Docker, name: string): Promise<void> {
  try {
    await engine.getContainer(name).remove({ force: true });
  } catch (error) {
    if (!(error instanceof Error && "statusCode" in error && (error.statusCode === 404 || error.statusCode === 409))) throw error;
  }
}

/** Starts an engine's container on the host's network: it binds loopback alone, by its own configuration. */
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
      LogConfig: { Type: "none", Config: {} },
    },
  });
  mkdirSync(dirname(spec.logFile), { recursive: true, mode: 0o750 });
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  const log = createWriteStream(spec.logFile, { flags: "a", mode: 0o640 });
  container.modem.demuxStream(stream, log, log);
  await container.start();
  const { State } = await container.inspect();
  const exited = container.wait().then(
    (ended: { StatusCode: number }) => `exit ${ended.StatusCode}`,
    (error: unknown) => `lost: ${error instanceof Error ? error.message : String(error)}`,
  );
  void exited.then(() => log.end());
  return {
    pid: State.Pid || null,
    exited,
    signal: async (name) => {
      try {
        await container.kill({ signal: name });
      } catch (error) {
        // 404, 409: it has just ended by itself.
        if (!(error instanceof Error && "statusCode" in error && (error.statusCode === 404 || error.statusCode === 409)))
          throw error;
      }
    },
  };
}
