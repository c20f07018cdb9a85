/** A member on this host: a container by its fence's name, a mounted file system, a place in the attempt's bridge network. */
import { copyFileSync, cpSync, writeFileSync } from "node:fs";
import type { MemberBridge } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import type { UidRange } from "@resontech/contracts/uid-range";
import type { Logger } from "pino";
import type { Enclosure, ImageRequest, Kept, Proof, Run, Work } from "../enclosure.ts";
import { EnclosureFailedError } from "../substrate-errors.ts";
import { ContainerRun } from "./container-run.ts";
import {
  cdiDevices,
  containerOptions,
  JOB_HOSTNAME,
  type Mounts,
} from "./containers/container-options.ts";
import { withRefusals } from "./engine-error.ts";
import { retryUntilEngineUp } from "./engine-retry.ts";
import { type JobContainers, processesOf } from "./containers/job-containers.ts";
import { killWithoutEngine } from "./containers/kill-without-engine.ts";
import { OWN_FILES, ownFiles } from "./decisions/own-files.ts";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { deviceFilesOf, withGroups } from "./devices/device-files.ts";
import type { NodeDevices } from "./devices/node-devices.ts";
import { MemberArea } from "./files/member-area.ts";
import { MemberFilesystem } from "./files/member-filesystem.ts";
import type { Attachment, JobNetwork } from "./network/job-network.ts";
import { takeUid } from "./take-uid.ts";

/** What the host's members share. */
export type HostParts = {
  instance: string;
  engine: "podman" | "docker";
  containers: JobContainers;
  network: JobNetwork;
  devices: NodeDevices;
  jobUids: UidRange;
  /** The system calls of a job, as the container engine takes them. */
  seccomp: string;
  initBinary: string;
  runnersDir: string;
  leaseDir: string;
  folderOf: (member: string) => string;
  log: Logger;
};

export type HostKept = {
  containerId: string | null;
  /** Its user and group on the host and in the container; null before it has one. */
  uid: number | null;
  /** Device memory in use before the member came, in bytes by device. */
  deviceBaseline: Readonly<Record<string, number>>;
};

const FRESH: HostKept = { containerId: null, uid: null, deviceBaseline: {} };

export class ContainerEnclosure implements Enclosure {
  readonly area: MemberArea;
  readonly #parts: HostParts;
  readonly #work: Work;
  readonly #name: string;
  readonly #disk: MemberFilesystem;
  #kept: HostKept;
  #isMade: boolean | null = null;
  #attachment: Attachment | null = null;
  /** On the host, as it was observed; 0 when nothing ran then. */
  #pid: number | undefined = undefined;

  constructor(parts: HostParts, work: Work, kept: Kept) {
    this.#parts = parts;
    this.#work = work;
    this.#name = parts.containers.nameOf(work.member, formatFence(work.fence));
    this.#disk = new MemberFilesystem(parts.folderOf(work.member));
    this.#kept = readKept(kept);
    this.area = new MemberArea(this.#disk, () => this.#uid);
  }

  get kept(): Kept {
    return this.#kept;
  }

  get #uid(): number {
    const { uid } = this.#kept;
    if (uid === null) throw new Error(`${this.#name} has no user yet`);
    return uid;
  }

  reserve(others: readonly Kept[]): void {
    if (this.#kept.uid !== null) return;
    const taken = others.flatMap((kept) => readKept(kept).uid ?? []);
    this.#kept = { ...this.#kept, uid: takeUid(this.#parts.jobUids, this.#name, taken) };
  }

  async isMade(until: AbortSignal): Promise<boolean> {
    const found = await this.#ask(() => this.#parts.containers.inspect(this.#name), until);
    this.#isMade = found !== null;
    return this.#isMade;
  }

  async claimDevices(): Promise<void> {
    const deviceBaseline = await this.#parts.devices.claim(this.#work.resources.workers);
    this.#kept = { ...this.#kept, deviceBaseline };
  }

  async makeArea(): Promise<void> {
    const { resources, inputs } = this.#work;
    // Files that a killed agent left half done would look like doubled entries.
    await this.#disk.remove();
    // What is only read is not the job's to use up.
    const readOnly = inputs.filter(({ kind }) => kind !== "shard" && kind !== "file");
    const readOnlyBytes = readOnly.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    await this.#disk.create(resources.diskBytes + readOnlyBytes, this.#uid);
    // Copies: a mount of the release's own files would tell where it is installed.
    copyFileSync(this.#parts.initBinary, this.#disk.path("init", "rt-init"));
    cpSync(this.#parts.runnersDir, this.#disk.path("runner"), { recursive: true });
  }

  async haveImage({ login, onProgress }: ImageRequest, until: AbortSignal): Promise<boolean> {
    const { containers } = this.#parts;
    const { image } = this.#work;
    if (await this.#ask(() => containers.hasImage(image), until)) return false;
    const credentials = await login();
    await this.#ask(() => containers.pull(image, credentials, onProgress, until), until);
    return true;
  }

  makeNetwork(until: AbortSignal): Promise<void> {
    return this.#ask(() => this.#parts.network.create(this.#work.attempt), until);
  }

  async connect(bridge: MemberBridge | null, until: AbortSignal): Promise<void> {
    const { attempt, member, payload } = this.#work;
    const place = { attempt, member, network: payload.network, bridge };
    this.#attachment = await this.#ask(() => this.#parts.network.connect(place), until);
  }

  async proveClosed(): Promise<void> {
    // What has ended has no way anywhere.
    if (this.#pid === 0) return;
    await withRefusals(this.#parts.network.prove(this.#work.attempt, this.#pid));
  }

  async start(until: AbortSignal): Promise<string> {
    const { instance, engine, seccomp, devices, containers } = this.#parts;
    const attachment = this.#attachment;
    if (attachment === null) throw new Error(`${this.#name} is not connected yet`);
    const isMade = this.#isMade ?? (await this.isMade(until));
    // What is staged for a container that a killed agent had made is in use.
    if (!isMade) this.#writeOwnFiles(attachment);
    const own = devices.of(this.#work.resources.workers);
    const options = containerOptions(this.#work, {
      ...{ name: this.#name, instance, engine, seccomp, attachment },
      uid: this.#uid,
      mounts: this.#mounts(),
      devices: own,
      deviceFiles: withGroups(own.flatMap(deviceFilesOf)),
      openFiles: openFilesLimit(),
    });
    const named = cdiDevices({ engine, devices: own });
    const start = () => containers.start({ ...options, name: this.#name }, named);
    const { id } = await retryUntilEngineUp(start, until).catch((error: unknown) => {
      until.throwIfAborted();
      throw new EnclosureFailedError(`the container could not be started: ${textOf(error)}`, {
        cause: error,
      });
    });
    this.#kept = { ...this.#kept, containerId: id };
    return id;
  }

  async observe(until: AbortSignal): Promise<Run> {
    const look = () => this.#ask(() => this.#parts.containers.inspect(this.#name), until);
    const found = await look();
    if (found === null) throw new EnclosureFailedError("the container is gone");
    this.#pid = found.pid;
    return new ContainerRun(found, look);
  }

  async signal(what: "terminate" | "kill", until: AbortSignal): Promise<void> {
    const name = what === "kill" ? "SIGKILL" : "SIGTERM";
    await this.#ask(() => this.#parts.containers.signal(this.#name, name), until);
  }

  async abort(): Promise<void> {
    const { network, containers, log } = this.#parts;
    const { attempt, member } = this.#work;
    network.disconnect(attempt, member).catch((error: unknown) => {
      log.warn({ err: error, member }, "not disconnected yet; its release goes on");
    });
    // Release removes the container by force; this is the quicker end for what runs now.
    await containers.signal(this.#name, "SIGKILL").catch((error: unknown) => {
      log.warn({ err: error, member }, "the engine does not kill it; its release goes on");
      this.#killWithoutEngine();
    });
  }

  async release(): Promise<Proof> {
    const { network, containers, devices } = this.#parts;
    const { attempt, member } = this.#work;
    await this.#attempt(async () => {
      await network.disconnect(attempt, member);
      return true;
    });
    const isContainerGone = await this.#attempt(() => containers.remove(this.#name));
    if (!isContainerGone) this.#killWithoutEngine();
    const { containerId, deviceBaseline } = this.#kept;
    const processesGone =
      isContainerGone && (containerId === null || processesOf(containerId).length === 0);
    const diskGone = processesGone && (await this.#attempt(() => this.#disk.remove()));
    const devicesAtBaseline = await this.#attempt(() => devices.areAtBaseline(deviceBaseline));
    // Others of the attempt may still be on it; whoever leaves last takes it along.
    if (processesGone) await this.#attempt(() => network.remove(attempt));
    return { processesGone, diskGone, devicesAtBaseline };
  }

  async #attempt(what: () => Promise<boolean>): Promise<boolean> {
    try {
      return await what();
    } catch (error) {
      this.#parts.log.warn({ err: error, member: this.#work.member }, "not released yet");
      return false;
    }
  }

  #killWithoutEngine(): void {
    if (this.#kept.containerId !== null) killWithoutEngine(this.#kept.containerId);
  }

  #writeOwnFiles({ address, hosts }: Attachment): void {
    const files = ownFiles(this.#uid, JOB_HOSTNAME, address, hosts);
    for (const file of OWN_FILES)
      writeFileSync(this.#disk.path("etc", file), files[file], { mode: 0o644 });
  }

  #mounts(): Mounts {
    const disk = this.#disk;
    const hasModel = this.#work.inputs.some(({ kind }) => kind === "model");
    return {
      initBinary: disk.path("init", "rt-init"),
      leaseDir: this.#parts.leaseDir,
      runnersDir: disk.path("runner"),
      jobDir: disk.path("job"),
      etcDir: disk.path("etc"),
      modelDir: hasModel ? disk.path("model") : null,
      payload: disk.path("payload"),
      out: disk.path("out"),
      tmp: disk.path("tmp"),
      workspace: disk.path("workspace"),
      events: disk.path("events"),
    };
  }

  /** As long as it takes an engine that is being restarted. */
  #ask<T>(call: () => Promise<T>, until: AbortSignal): Promise<T> {
    return withRefusals(retryUntilEngineUp(call, until));
  }
}

/** It is our own, out of a record that was replaced in one step: taken as it was written, what was not kept yet as fresh. */
function readKept(kept: Kept): HostKept {
  return { ...FRESH, ...kept };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
