/**
 * One member's life on this node: stage, run, drain, release. Each step can be repeated; what is done is in the record, so a new agent process
 * goes on where a killed one was. Reports leave in order through the record's spool.
 */
import { execFile } from "node:child_process";
import { chownSync, copyFileSync, existsSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve as resolvePath, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { DesiredMember, MemberEvent, StagedInput } from "@resontech/contracts/agent-protocol";
import { EXIT, KIT_FILES, RUNNER_OUTPUTS, type RunnerSpec } from "@resontech/contracts/runner";
import type { Logger } from "pino";
import { bootTimeMs } from "../boot-clock.ts";
import { type CoordinatorClient, RefusedError } from "../bus/coordinator-client.ts";
import type { ContainerFate, ContainerMounts, JobContainers } from "../containers/job-container.ts";
import type { JobNetwork } from "../network/job-network.ts";
import type { Uploader } from "../outputs/uploader.ts";
import { download } from "../staging/download.ts";
import { unpackZip } from "../staging/unpack-zip.ts";
import { LogShipper } from "./log-shipper.ts";
import { MemberFailure } from "./member-failure.ts";
import { MemberFilesystem } from "./member-filesystem.ts";
import { makeKey } from "./member-keys.ts";
import type { MemberState, MemberStore } from "./member-record.ts";
import { readRunnerEvents } from "./runner-events.ts";

const WATCH_MS = 150;
const PROGRESS_EVERY_MS = 2_000;
/** A rewritten log stays within one small upload. */
const ROUND_LOG_LIMIT_BYTES = 16 * 1024 * 1024;
/** KERNEL: at most this long from a stop to the end, whatever the payload does. */
const KILL_AFTER_TERM_MS = 30_000;

export type MemberTools = {
  config: AgentConfig;
  store: MemberStore;
  coordinator: CoordinatorClient;
  containers: JobContainers;
  network: JobNetwork;
  uploader: Uploader;
  rootCert: string;
  leaseDir: string;
  log: Logger;
  /** A report was spooled. */
  onReport: () => void;
};

export class Member {
  readonly #tools: MemberTools;
  readonly #state: MemberState;
  readonly #stop = new AbortController();
  #abandoned = false;
  #work: Promise<void> | null = null;

  constructor(tools: MemberTools, state: MemberState) {
    this.#tools = tools;
    this.#state = state;
  }

  static fresh(tools: MemberTools, desired: DesiredMember): Member {
    const state: MemberState = {
      desired,
      phase: "staging",
      nextSeq: 1,
      pending: [],
      eventsOffset: 0,
      logOffset: 0,
      logSeq: 1,
      model: null,
      failure: null,
      stop: null,
    };
    tools.store.save(state);
    return new Member(tools, state);
  }

  get state(): Readonly<MemberState> {
    return this.#state;
  }

  /** Runs the life from where the record is; once. */
  start(): void {
    this.#work ??= this.#live().catch((error: unknown) =>
      this.#tools.log.error({ err: error, member: this.#id }, "a member's life broke off"),
    );
  }

  /** Orderly end; the payload has `graceMs`. */
  stop(reason: string, graceMs: number): void {
    if (this.#state.stop !== null) return;
    this.#state.stop = { reason, atMs: bootTimeMs(), graceMs };
    this.#save();
    this.#stop.abort();
  }

  /** Ends it at once and uploads nothing more: its fence was withdrawn, or the lease is lost. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.stop("lease_lost", 1);
    await this.#tools.containers.signal(this.#container, "SIGKILL");
    await this.#work;
  }

  /** Clears whatever is left under this name and reports it under the fence of `desired`. */
  async clear(): Promise<void> {
    this.#abandoned = true;
    this.#state.phase = "releasing";
    this.#save();
    this.start();
    await this.#work;
  }

  /** Reports up to `count` were taken, or will never be. */
  settle(count: number): void {
    this.#state.pending.splice(0, count);
    this.#save();
  }

  get #id(): string {
    return this.#state.desired.member;
  }
  get #ref(): { member: string; fence: DesiredMember["fence"] } {
    return { member: this.#state.desired.member, fence: this.#state.desired.fence };
  }
  get #container(): string {
    return this.#tools.containers.nameOf(this.#state.desired);
  }
  get #folder(): string {
    return this.#tools.store.directory(this.#id);
  }

  #save(): void {
    this.#tools.store.save(this.#state);
  }

  #report(event: MemberEvent): void {
    this.#state.pending.push({ ...this.#ref, seq: this.#state.nextSeq, at: new Date().toISOString(), event });
    this.#state.nextSeq += 1;
    this.#save();
    this.#tools.onReport();
  }

  async #live(): Promise<void> {
    const disk = new MemberFilesystem(this.#folder);
    try {
      if (this.#state.phase === "staging") await this.#stageAndStart(disk);
      if (this.#state.phase === "running") await this.#watch(disk);
      if (this.#state.phase === "draining") await this.#drain(disk);
    } catch (error) {
      this.#fail(error, disk);
    }
    await this.#release(disk);
  }

  #fail(error: unknown, disk: MemberFilesystem): void {
    const { log } = this.#tools;
    if (this.#abandoned || this.#state.stop !== null) {
      log.info({ member: this.#id, err: error }, "member stopped");
    } else {
      const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
      const failure =
        error instanceof MemberFailure
          ? error
          : isFull || disk.isFull
            ? new MemberFailure("disk_limit", `the member used up its ${this.#state.desired.resources.diskBytes} bytes`)
            : new MemberFailure("agent_fault", error instanceof Error ? error.message : String(error));
      log.warn({ err: error, member: this.#id, reason: failure.reason }, "member failed");
      this.#reportFailure(failure);
    }
    if (this.#state.phase !== "releasing") this.#state.phase = "releasing";
    this.#save();
  }

  #reportFailure(failure: MemberFailure): void {
    if (this.#state.failure !== null) return;
    this.#state.failure = {
      reason: failure.reason,
      message: failure.message,
      ...(failure.detail === undefined ? {} : { detail: failure.detail }),
    };
    this.#report({ kind: "failed", ...this.#state.failure });
  }

  // ── staging ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #stageAndStart(disk: MemberFilesystem): Promise<void> {
    const { desired } = this.#state;
    const { config, containers, network } = this.#tools;
    const signal = this.#stop.signal;
    signal.throwIfAborted();
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
    let [doneBytes, reportedAtMs] = [0, 0];
    const progress = (step: string, bytes: number, total?: number): void => {
      doneBytes += bytes;
      if (Date.now() - reportedAtMs < PROGRESS_EVERY_MS) return;
      reportedAtMs = Date.now();
      this.#report({ kind: "progress", step, done: doneBytes, ...(total === undefined ? {} : { total }) });
    };
    if ((await containers.inspect(this.#container)) !== null) {
      // A killed predecessor had come this far: what is staged is in use.
      await containers.start(
        desired,
        this.#mounts(disk),
        network.connect(desired.attempt, desired.role.kind, desired.federation.serverName),
      );
      this.#state.phase = "running";
      this.#report({ kind: "started", container: this.#container.slice(0, 64) });
      return;
    }
    this.#report({ kind: "progress", step: "claimed", done: 0 });
    // Half-staged files of a killed predecessor would look like doubled entries.
    await disk.remove();
    await disk.create(desired.resources.diskBytes, config.jobUid);
    const pulled = this.#pull(() => progress("image", 1));
    // Both must have ended before anything is torn down.
    const results = await Promise.allSettled([pulled, this.#stageInputs(disk, progress), this.#makeKit()]);
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    this.#writeSpec();
    this.#report({ kind: "staged", bytes: doneBytes });
    signal.throwIfAborted();
    await network.create(desired.attempt);
    await network.prove(desired.attempt);
    await containers.start(
      desired,
      this.#mounts(disk),
      network.connect(desired.attempt, desired.role.kind, desired.federation.serverName),
    );
    this.#state.phase = "running";
    this.#report({ kind: "started", container: this.#container.slice(0, 64) });
  }

  #mounts(disk: MemberFilesystem): ContainerMounts {
    const { config, leaseDir } = this.#tools;
    return {
      initBinary: config.initBinary,
      leaseDir,
      runnersDir: config.runnersDir,
      jobDir: join(this.#folder, "job"),
      modelDir: this.#state.desired.inputs.some((input) => input.kind === "model") ? join(this.#folder, "model") : null,
      payload: disk.path("payload"),
      out: disk.path("out"),
      tmp: disk.path("tmp"),
      workspace: disk.path("workspace"),
      events: disk.path("events"),
    };
  }

  async #pull(onProgress: () => void): Promise<void> {
    const { containers, coordinator } = this.#tools;
    const { image } = this.#state.desired;
    if (await containers.hasImage(image)) return;
    await containers.pull(image, await coordinator.pullToken(this.#ref), onProgress);
  }

  async #stageInputs(disk: MemberFilesystem, progress: (step: string, bytes: number, total?: number) => void): Promise<void> {
    const { inputs, resources } = this.#state.desired;
    const signal = this.#stop.signal;
    const { urls } = await this.#tools.coordinator.stage(this.#ref);
    const byId = new Map(urls.map(({ id, url }) => [id, url]));
    const total = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
    for (const input of inputs) {
      const file = this.#targetOf(input, disk);
      mkdirSync(join(file, ".."), { recursive: true, mode: 0o755 });
      const url = byId.get(input.id);
      if (url === undefined) throw new MemberFailure("staging_failed", `there is no URL for ${input.target}`);
      await download(url, input, file, this.#tools.rootCert, (bytes) => progress("inputs", bytes, total), signal);
      if (input.kind !== "shard") continue;
      await unpackZip(file, disk.path("payload"), resources.diskBytes, () => progress("unpack", 0), signal);
      rmSync(file);
      await chownTree(disk.path("payload"), this.#tools.config.jobUid);
    }
  }

  /** Where an input lies; a target that would leave the member's folder is refused. */
  #targetOf(input: StagedInput, disk: MemberFilesystem): string {
    const base = input.kind === "shard" ? disk.path("events") : input.kind === "model" ? this.#folder : join(this.#folder, "job");
    const file = resolvePath(base, input.kind === "shard" ? ".shard.zip" : input.target);
    if (!file.startsWith(base + sep))
      throw new MemberFailure("staging_failed", `${input.target} leads outside the member's folder`);
    return file;
  }

  /** Keys of this member (and, beside the server, of the job's submitter), signed by the attempt's root. */
  async #makeKit(): Promise<void> {
    const kit = join(this.#folder, "job", "kit");
    mkdirSync(kit, { recursive: true, mode: 0o755 });
    const { coordinator, config } = this.#tools;
    const put = (name: string, text: string): void => {
      const file = join(kit, name);
      writeFileSync(file, text, { mode: 0o400 });
      chownSync(file, config.jobUid, config.jobUid);
    };
    const identities = this.#state.desired.role.kind === "server" ? (["member", "admin"] as const) : (["member"] as const);
    for (const identity of identities) {
      const names =
        identity === "member"
          ? { cert: KIT_FILES.cert, key: KIT_FILES.key }
          : { cert: KIT_FILES.adminCert, key: KIT_FILES.adminKey };
      if (existsSync(join(kit, names.cert))) continue;
      const { keyPem, csrPem } = await makeKey();
      const { cert, rootCert } = await coordinator.sign(this.#ref, identity, csrPem);
      put(names.key, keyPem);
      if (!existsSync(join(kit, KIT_FILES.rootCert))) put(KIT_FILES.rootCert, rootCert);
      put(names.cert, cert);
    }
  }

  #writeSpec(): void {
    const { desired } = this.#state;
    const { federation, role } = desired;
    const model = desired.inputs.find((input) => input.kind === "model");
    const spec: RunnerSpec = {
      formatVersion: 1,
      role: role.kind,
      job: desired.job,
      attempt: desired.attempt,
      fence: desired.fence,
      org: federation.org,
      serverName: federation.serverName,
      serverPort: federation.serverPort,
      sites: federation.sites,
      site: role.kind === "client" ? role.site : null,
      minClients: federation.minClients,
      numRounds: federation.numRounds,
      taskRequestIntervalS: federation.taskRequestIntervalMs / 1000,
      modelFile: model === undefined ? null : `/app/model/${basename(model.target)}`,
    };
    writeFileSync(join(this.#folder, "job", "spec.json"), JSON.stringify(spec), { mode: 0o644 });
  }

  // ── running ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #watch(disk: MemberFilesystem): Promise<void> {
    const { containers } = this.#tools;
    const name = this.#container;
    const follower = new AbortController();
    const logFile = join(this.#folder, "output.log");
    const followed = containers
      .follow(name, logFile, follower.signal)
      .catch((error: unknown) => this.#tools.log.warn({ err: error, member: this.#id }, "the container's output was lost"));
    const shipper = this.#shipper(logFile);
    try {
      let signalledAtMs: number | null = null;
      for (;;) {
        const fate = await containers.fate(name);
        this.#takeEvents(disk);
        await this.#ship(shipper, false);
        if (fate !== null) {
          await followed;
          this.#takeEvents(disk);
          this.#judge(fate, disk);
          return;
        }
        const { stop } = this.#state;
        if (stop !== null && signalledAtMs === null) {
          signalledAtMs = bootTimeMs();
          await containers.signal(name, "SIGTERM");
        } else if (
          stop !== null &&
          signalledAtMs !== null &&
          bootTimeMs() - signalledAtMs > Math.min(stop.graceMs, KILL_AFTER_TERM_MS)
        ) {
          await containers.signal(name, "SIGKILL");
        }
        await sleep(WATCH_MS);
      }
    } finally {
      follower.abort();
    }
  }

  #shipper(file: string): LogShipper {
    return new LogShipper({
      coordinator: this.#tools.coordinator,
      uploader: this.#tools.uploader,
      job: this.#state.desired.job,
      member: this.#ref,
      file,
      folder: this.#folder,
      from: this.#state.logOffset,
    });
  }

  async #ship(shipper: LogShipper, last: boolean): Promise<void> {
    if (this.#abandoned) return;
    try {
      for (;;) {
        const moved = await shipper.ship(this.#state, Date.now(), last, AbortSignal.timeout(60_000));
        if (moved === null) return;
        Object.assign(this.#state, moved);
        this.#save();
        if (!last) return;
      }
    } catch (error) {
      // The file stays: the next round, or the drain, ships it.
      this.#tools.log.warn({ err: error, member: this.#id }, "a log chunk could not be shipped");
      if (error instanceof RefusedError && error.code.startsWith("stale")) throw error;
    }
  }

  #takeEvents(disk: MemberFilesystem): void {
    for (;;) {
      const { events, offset, model } = readRunnerEvents(disk.path("events", "events.jsonl"), this.#state.eventsOffset);
      if (offset === this.#state.eventsOffset) return;
      this.#state.eventsOffset = offset;
      if (model !== null) this.#state.model = model;
      for (const event of events) {
        if (event.kind === "failed")
          this.#reportFailure(new MemberFailure(event.reason as MemberFailure["reason"], event.message, event.detail));
        // `finished` waits for the container's end: only then is the model surely whole.
        else if (event.kind !== "finished") this.#report(event);
        if (event.kind === "round-ended") void this.#uploadRoundLog(disk);
      }
      this.#save();
    }
  }

  async #uploadRoundLog(disk: MemberFilesystem): Promise<void> {
    if (this.#state.desired.role.kind !== "server" || this.#abandoned) return;
    for (const [path, key] of outputsOfServer(disk)) {
      if (!existsSync(path) || statSync(path).size > ROUND_LOG_LIMIT_BYTES) continue;
      const copy = join(this.#folder, `round-${basename(path)}`);
      copyFileSync(path, copy);
      await this.#tools.uploader
        .upload(this.#ref, { file: copy, key }, AbortSignal.timeout(60_000))
        .catch((error: unknown) =>
          this.#tools.log.warn({ err: error, member: this.#id, key }, "not uploaded at this round's end; the last one brings it"),
        );
    }
  }

  /** What the container's end means. */
  #judge(fate: ContainerFate, disk: MemberFilesystem): void {
    this.#state.phase = "draining";
    if (this.#state.stop !== null || this.#state.failure !== null) {
      this.#save();
      return;
    }
    if (fate.exitCode === EXIT.done) {
      this.#report({ kind: "finished" });
      return;
    }
    if (fate.oomKilled || fate.exitCode === 137) {
      this.#reportFailure(
        new MemberFailure(
          "out_of_memory",
          `the container was killed at its limit of ${this.#state.desired.resources.memoryBytes} bytes`,
        ),
      );
    } else if (disk.isFull) {
      this.#reportFailure(
        new MemberFailure("disk_limit", `the member used up its ${this.#state.desired.resources.diskBytes} bytes`),
      );
    } else {
      this.#reportFailure(new MemberFailure("payload_exited", `the payload ended with exit code ${fate.exitCode}`));
    }
  }

  // ── draining, releasing ───────────────────────────────────────────────────────────────────────────────────────────────

  async #drain(disk: MemberFilesystem): Promise<void> {
    if (this.#abandoned) return;
    await this.#ship(this.#shipper(join(this.#folder, "output.log")), true);
    const { desired, model } = this.#state;
    const keys: string[] = [];
    if (desired.role.kind === "server") {
      const outputs = outputsOfServer(disk).filter(([path]) => existsSync(path));
      if (model !== null && this.#state.failure === null) {
        const file = resolveInside(disk, model.file);
        const name = basename(model.name);
        outputs.push([file, "model_out/checkpoint.pt"]);
        if (name !== "checkpoint.pt" && /^[A-Za-z0-9._-]{1,200}$/.test(name)) outputs.push([file, `model_out/${name}`]);
      }
      for (const [file, key] of outputs) {
        await this.#uploadSurely(file, key);
        keys.push(key);
      }
    }
    this.#report({ kind: "outputs-uploaded", keys });
    this.#state.phase = "releasing";
    this.#save();
  }

  /** Until it is stored or the fence is withdrawn; the coordinator's deadline bounds the tries. */
  async #uploadSurely(file: string, key: string): Promise<void> {
    for (;;) {
      try {
        await this.#tools.uploader.upload(this.#ref, { file, key }, AbortSignal.timeout(3_600_000));
        return;
      } catch (error) {
        if (this.#abandoned || error instanceof RefusedError)
          throw error instanceof RefusedError ? new MemberFailure("upload_failed", `${key}: ${error.message}`) : error;
        this.#tools.log.warn({ err: error, member: this.#id, key }, "an output could not be uploaded yet");
        await sleep(1_000);
      }
    }
  }

  async #release(disk: MemberFilesystem): Promise<void> {
    if (this.#state.phase === "released") return;
    const { containers, network } = this.#tools;
    for (let attempt = 1; ; attempt += 1) {
      const processesGone = await retryable(() => containers.remove(this.#container));
      const diskGone = processesGone && (await retryable(() => disk.remove()));
      if ((processesGone && diskGone) || attempt === 20) {
        await retryable(() => network.remove(this.#state.desired.attempt));
        for (const part of ["job", "model", "output.log", "log-chunk"])
          rmSync(join(this.#folder, part), { recursive: true, force: true });
        this.#state.phase = "released";
        this.#report({ kind: "released", processesGone, diskGone, devicesAtBaseline: true });
        return;
      }
      await sleep(500);
    }
  }
}

function outputsOfServer(disk: MemberFilesystem): [string, string][] {
  return [
    [disk.path("events", basename(RUNNER_OUTPUTS.trainingLog)), "files_out/training_log.txt"],
    [disk.path("events", basename(RUNNER_OUTPUTS.metrics)), "files_out/metrics.jsonl"],
  ];
}

/** The host's path of a file that the runner named by its path in the container. */
function resolveInside(disk: MemberFilesystem, containerPath: string): string {
  const mounts: readonly [string, "out" | "workspace" | "tmp" | "events"][] = [
    ["/app/out/", "out"],
    ["/app/workspace/", "workspace"],
    ["/tmp/", "tmp"],
    ["/rt/events/", "events"],
  ];
  for (const [prefix, part] of mounts) {
    if (!containerPath.startsWith(prefix)) continue;
    const file = resolvePath(disk.path(part), containerPath.slice(prefix.length));
    if (file.startsWith(disk.path(part) + sep) && isInside(disk.mountPoint, file)) return file;
  }
  throw new MemberFailure("output_missing", `the model ${containerPath} is not where the job may write`);
}

/** Links resolved: the job could point one at a file of the host. It has ended, so nothing moves meanwhile. */
function isInside(folder: string, file: string): boolean {
  return existsSync(file) && realpathSync(file).startsWith(realpathSync(folder) + sep) && statSync(file).isFile();
}

async function retryable(work: () => Promise<boolean>): Promise<boolean> {
  return await work().catch(() => false);
}

async function chownTree(folder: string, uid: number): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    execFile("chown", ["-R", "-h", `${uid}:${uid}`, folder], (error) => (error === null ? resolve() : reject(error))),
  );
}
