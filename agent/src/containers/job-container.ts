/** The container of one member, by the Docker Engine API: nothing of the host, no way out, no privileges. */
import { createWriteStream } from "node:fs";
import Docker from "dockerode";
import { formatFence } from "@resontech/contracts/fence";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import { RUNNER_COMMAND } from "@resontech/contracts/runner";
import type { NetworkAttachment } from "../network/job-network.ts";
import { MemberFailure } from "../members/member-failure.ts";

export const LABELS = { instance: "tech.reson.instance", member: "tech.reson.member", fence: "tech.reson.fence" } as const;

export type ContainerMounts = {
  initBinary: string;
  leaseDir: string;
  runnersDir: string;
  jobDir: string;
  modelDir: string | null;
  payload: string;
  out: string;
  tmp: string;
  workspace: string;
  events: string;
};

export type ContainerFate = { exitCode: number; oomKilled: boolean };

const STATUS = (error: unknown): number =>
  error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 0;

export class JobContainers {
  readonly #engine: Docker;
  readonly #instance: string;
  readonly #uid: number;

  constructor(socketPath: string, instance: string, uid: number) {
    this.#engine = new Docker({ socketPath });
    this.#instance = instance;
    this.#uid = uid;
  }

  get engine(): Docker {
    return this.#engine;
  }

  nameOf(member: DesiredMember): string {
    return `rt-${this.#instance}-${member.member}-${formatFence(member.fence)}`;
  }

  async hasImage(reference: string): Promise<boolean> {
    return await this.#engine
      .getImage(reference)
      .inspect()
      .then(() => true)
      .catch((error: unknown) => {
        if (STATUS(error) === 404) return false;
        throw error;
      });
  }

  /** Pulls by digest; calls back on each report of the engine, so that a long pull counts as progress. */
  async pull(reference: string, login: { username: string; password: string }, onProgress: () => void): Promise<void> {
    try {
      const stream: NodeJS.ReadableStream = await this.#engine.pull(reference, {
        authconfig: { ...login, serveraddress: reference.split("/")[0] ?? "" },
      });
      await new Promise<void>((resolve, reject) => {
        this.#engine.modem.followProgress(
          stream,
          (error: Error | null) => (error === null ? resolve() : reject(error)),
          onProgress,
        );
      });
    } catch (error) {
      throw new MemberFailure(
        "image_pull_failed",
        `the image ${reference} could not be pulled: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Makes and starts the container unless it is there; its output is appended to `logFile` by {@link follow}. */
  async start(member: DesiredMember, mounts: ContainerMounts, network: NetworkAttachment): Promise<void> {
    const name = this.nameOf(member);
    const { resources } = member;
    if ((await this.inspect(name)) === null) {
      await this.#engine.createContainer({
        name,
        Image: member.image,
        User: `${this.#uid}:${this.#uid}`,
        WorkingDir: "/tmp",
        Env: [
          "PATH=/usr/local/bin:/usr/bin:/bin",
          "HOME=/tmp",
          "LANG=C.UTF-8",
          "DO_NOT_TRACK=1",
          "HF_HUB_OFFLINE=1",
          "HF_HUB_DISABLE_TELEMETRY=1",
          "WANDB_MODE=offline",
        ],
        Entrypoint: ["/rt/init"],
        Cmd: [...RUNNER_COMMAND],
        Labels: { [LABELS.instance]: this.#instance, [LABELS.member]: member.member, [LABELS.fence]: formatFence(member.fence) },
        HostConfig: {
          ReadonlyRootfs: true,
          CapDrop: ["ALL"],
          SecurityOpt: ["no-new-privileges"],
          NetworkMode: network.network,
          Memory: resources.memoryBytes,
          MemorySwap: resources.memoryBytes,
          NanoCpus: resources.cpuMillis * 1_000_000,
          PidsLimit: resources.pids,
          RestartPolicy: { Name: "no" },
          Binds: [
            `${mounts.initBinary}:/rt/init:ro`,
            `${mounts.leaseDir}:/rt/lease:ro`,
            `${mounts.runnersDir}:/rt/runner:ro`,
            `${mounts.jobDir}:/rt/job:ro`,
            ...(mounts.modelDir === null ? [] : [`${mounts.modelDir}:/app/model:ro`]),
            `${mounts.payload}:/app/payload`,
            `${mounts.payload}:/var/tmp/nvflare/data`,
            `${mounts.out}:/app/out`,
            `${mounts.tmp}:/tmp`,
            `${mounts.workspace}:/app/workspace`,
            `${mounts.events}:/rt/events`,
          ],
        },
        NetworkingConfig: { EndpointsConfig: { [network.network]: { Aliases: network.aliases } } },
      });
    }
    const state = await this.inspect(name);
    if (state !== null && state.Status === "created") await this.#engine.getContainer(name).start();
  }

  async inspect(name: string): Promise<Docker.ContainerInspectInfo["State"] | null> {
    try {
      return (await this.#engine.getContainer(name).inspect()).State;
    } catch (error) {
      if (STATUS(error) === 404) return null;
      throw error;
    }
  }

  /** Everything the container says, from its beginning, into a file that is made anew; resolves when the container has ended. */
  async follow(name: string, logFile: string, signal: AbortSignal): Promise<void> {
    const container = this.#engine.getContainer(name);
    const stream = await container.logs({ follow: true, stdout: true, stderr: true });
    const file = createWriteStream(logFile, { flags: "w", mode: 0o600 });
    this.#engine.modem.demuxStream(stream, file, file);
    const destroy = (): void => {
      if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
    };
    signal.addEventListener("abort", destroy, { once: true });
    await new Promise<void>((resolve) => {
      stream.once("end", resolve);
      stream.once("close", resolve);
      stream.once("error", () => resolve());
    });
    signal.removeEventListener("abort", destroy);
    await new Promise<void>((resolve) => file.end(resolve));
  }

  /** Null while it runs; the fate once it has ended. @throws MemberFailure when it is gone without a trace */
  async fate(name: string): Promise<ContainerFate | null> {
    const state = await this.inspect(name);
    if (state === null) throw new MemberFailure("container_failed", "the container is gone");
    if (state.Running || state.Status === "created") return null;
    return { exitCode: state.ExitCode, oomKilled: state.OOMKilled };
  }

  async signal(name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    try {
      await this.#engine.getContainer(name).kill({ signal });
    } catch (error) {
      // 404, 409, 500 "not running": it has ended by itself.
      if (![404, 409, 500].includes(STATUS(error))) throw error;
    }
  }

  /** Removes it by force; true when it is gone. */
  async remove(name: string): Promise<boolean> {
    try {
      await this.#engine.getContainer(name).remove({ force: true });
    } catch (error) {
      if (![404, 409].includes(STATUS(error))) throw error;
    }
    return (await this.inspect(name)) === null;
  }

  /** Containers of this instance's jobs: name, member and fence of each. */
  async list(): Promise<{ name: string; member: string; fence: string }[]> {
    const found = await this.#engine.listContainers({ all: true, filters: { label: [`${LABELS.instance}=${this.#instance}`] } });
    return found.map((container) => ({
      name: (container.Names[0] ?? "").replace(/^\//, ""),
      member: container.Labels[LABELS.member] ?? "",
      fence: container.Labels[LABELS.fence] ?? "",
    }));
  }
}
