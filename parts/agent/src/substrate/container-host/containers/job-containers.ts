/** Containers of members, by the Docker Engine API; every call is safe to repeat. */
import { readdirSync, readFileSync } from "node:fs";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { processLimit } from "@resontech/frame/process-limit";
import type Docker from "dockerode";
import type { ContainerCreateOptions, ContainerInspectInfo } from "dockerode";
import type { FoundEnclosure } from "../../substrate.ts";
import { ImageNotHadError } from "../../substrate-errors.ts";
import { podmanSpec } from "./podman-spec.ts";
import { LABELS } from "./container-options.ts";
import { statusOf } from "../engine-error.ts";
import { retryOnVanished } from "../engine-retry.ts";

export type ContainerState = {
  id: string;
  /** `created`: made, never started; `running`; `ended`. */
  phase: "created" | "running" | "ended";
  /** On the host; 0 unless it runs. */
  pid: number;
  exitCode: number;
  oomKilled: boolean;
};

/** Podman's own interface, of 4.0 and all later releases; it takes names of CDI. */
const PODMAN_CREATE = "/v4.0.0/libpod/containers/create";

export class JobContainers {
  readonly #engine: Docker;
  readonly #instance: string;
  readonly #pulls: Docker;

  /** @param pulls the same engine, as one that may be silent for long: large layers are unpacked without a word */
  constructor(engine: Docker, instance: string, pulls: Docker = engine) {
    this.#engine = engine;
    this.#instance = instance;
    this.#pulls = pulls;
  }

  nameOf(member: string, fence: string): string {
    return `rt-${this.#instance}-${member}-${fence}`;
  }

  async hasImage(reference: string): Promise<boolean> {
    return (await orNull(this.#engine.getImage(reference).inspect())) !== null;
  }

  /**
   * Pulls by digest; calls back at each report of the engine: a long pull is progress.
   * @throws ImageNotHadError
   */
  async pull(
    reference: string,
    login: { username: string; password: string },
    onProgress: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const stream: NodeJS.ReadableStream = await this.#pulls.pull(reference, {
      authconfig: { ...login, serveraddress: reference.split("/")[0] ?? "" },
      abortSignal: signal,
    });
    let refusal: string | null = null;
    await new Promise<void>((resolve, reject) => {
      this.#pulls.modem.followProgress(
        stream,
        (error: Error | null) => (error === null ? resolve() : reject(error)),
        (report: { error?: unknown }) => {
          // The answer is a 200 that streams; a failure is one of its lines.
          if (typeof report.error === "string") refusal = report.error;
          onProgress();
        },
      );
    });
    signal.throwIfAborted();
    if (refusal !== null || !(await this.hasImage(reference)))
      throw new ImageNotHadError(refusal ?? "the engine pulled it and does not have it");
  }

  /**
   * Makes the container unless one of this name is there, and starts it unless it was started before.
   * @param cdiDevices devices that Podman knows by these names
   */
  async start(
    options: ContainerCreateOptions & { name: string },
    cdiDevices: readonly string[] = [],
  ): Promise<ContainerState> {
    if ((await this.inspect(options.name)) === null) await this.#create(options, cdiDevices);
    const made = await this.inspect(options.name);
    if (made?.phase === "created") await this.#engine.getContainer(options.name).start();
    const started = await this.inspect(options.name);
    if (started === null)
      throw new Error(`the container ${options.name} vanished while it was started`);
    return started;
  }

  async #create(
    options: ContainerCreateOptions & { name: string },
    cdiDevices: readonly string[],
  ): Promise<void> {
    if (cdiDevices.length === 0) return void (await this.#engine.createContainer(options));
    const limits = { openFiles: openFilesLimit(), processes: processLimit() };
    const request = {
      path: PODMAN_CREATE,
      method: "POST",
      options: podmanSpec(options.name, options, cdiDevices, limits),
      statusCodes: { 201: true, 400: "bad parameter", 404: "no such image", 500: "server error" },
    };
    await new Promise<void>((resolve, reject) =>
      this.#engine.modem.dial(request, (error: unknown) =>
        error === null || error === undefined ? resolve() : reject(error),
      ),
    );
  }

  /** Null when there is none. */
  async inspect(name: string): Promise<ContainerState | null> {
    const found = await this.#ask(name);
    if (found === null) return null;
    const { Id, State } = found;
    // Podman says "initialized" and "configured" where Docker says "created".
    const isFresh =
      !State.Running && ["created", "configured", "initialized"].includes(State.Status);
    return {
      id: Id,
      phase: State.Running ? "running" : isFresh ? "created" : "ended",
      pid: State.Running ? State.Pid : 0,
      exitCode: State.ExitCode,
      oomKilled: State.OOMKilled,
    };
  }

  async #ask(name: string): Promise<ContainerInspectInfo | null> {
    return retryOnVanished(() => orNull(this.#engine.getContainer(name).inspect()));
  }

  /** To PID 1; nothing happens when it has ended. */
  async signal(name: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    try {
      await this.#engine.getContainer(name).kill({ signal });
    } catch (error) {
      if (![404, 409].includes(statusOf(error)) && (await this.inspect(name))?.phase === "running")
        throw error;
    }
  }

  /** Removes it by force; true when it is gone. */
  async remove(name: string): Promise<boolean> {
    await orNull(this.#engine.getContainer(name).remove({ force: true, v: true }));
    return (await this.inspect(name)) === null;
  }

  async list(): Promise<FoundEnclosure[]> {
    const found = await this.#engine.listContainers({
      all: true,
      filters: { label: [`${LABELS.instance}=${this.#instance}`] },
    });
    return found.map(({ Names, Labels }) => ({
      name: (Names[0] ?? "").replace(/^\//, ""),
      member: Labels[LABELS.member] ?? "",
      fence: Labels[LABELS.fence] ?? "",
    }));
  }
}

/** Processes in a container's control group, the engine's own monitor included; empty once all are gone. */
export function processesOf(containerId: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => controlGroupOf(pid).includes(containerId))
    .map(Number);
}

function controlGroupOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, "utf8");
  } catch {
    // It ended while we looked.
    return "";
  }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}
