/** From nothing to a running container: disk, inputs, image, keys, network. Begun anew after a crash, until the container is there. */
import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { KIT_FILES, RESUME_MODEL, type RunnerSpec } from "@resontech/contracts/runner";
import { persist } from "../bus/persist.ts";
import { containerOptions, type Mounts } from "../containers/container-options.ts";
import { whileEngineIsAway } from "../containers/engine-retry.ts";
import { PullFailedError } from "../containers/job-containers.ts";
import { DevicesNotFreeError } from "../probes/accelerators.ts";
import { download } from "../staging/download.ts";
import { unpackZip } from "../staging/unpack-zip.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "./member-failure.ts";
import { makeKey } from "./member-keys.ts";
import { placeOf } from "./place-of.ts";
import { TransferProgress } from "./transfer-progress.ts";

export async function stageMember(member: MemberContext): Promise<void> {
  const { tools, journal, containerName, stopped } = member;
  const { desired } = journal.state;
  stopped.throwIfAborted();
  if ((await whileEngineIsAway(() => tools.containers.inspect(containerName), stopped)) === null) {
    await prepare(member);
    stopped.throwIfAborted();
    await whileEngineIsAway(() => tools.network.create(desired.attempt), stopped);
  }
  // What is staged for a container that a killed agent had made is in use: it is started as it is.
  const attachment = await whileEngineIsAway(() => tools.network.connect(placeOf(journal.state.desired)), stopped);
  await tools.network.prove(desired.attempt);
  const options = containerOptions(desired, {
    name: containerName,
    instance: tools.config.instance,
    engine: tools.config.containerEngine.kind,
    uid: tools.config.jobUid,
    seccomp: tools.seccomp,
    mounts: mountsOf(member),
    attachment,
    devices: tools.accelerators.of(desired.resources.workers),
  });
  const container = await whileEngineIsAway(() => tools.containers.start({ ...options, name: containerName }), stopped).catch(
    (error: unknown) => {
      stopped.throwIfAborted();
      throw new MemberFailure("container_failed", `the container could not be started: ${textOf(error)}`);
    },
  );
  journal.note({ phase: "running", containerId: container.id }, { kind: "started", container: container.id.slice(0, 64) });
}

async function prepare(member: MemberContext): Promise<void> {
  const { tools, journal, disk, folder } = member;
  const { resources } = journal.state.desired;
  const deviceBaseline = await tools.accelerators.claim(resources.workers).catch((error: unknown) => {
    throw error instanceof DevicesNotFreeError ? new MemberFailure("device_fault", error.message) : error;
  });
  journal.note({ deviceBaseline }, { kind: "progress", step: "claimed", done: 0 });
  // Files that a killed agent left half done would look like doubled entries.
  await disk.remove();
  for (const part of ["job", "model"]) rmSync(join(folder, part), { recursive: true, force: true });
  await disk.create(resources.diskBytes, tools.config.jobUid);
  for (const part of ["job", "job/kit", "job/scripts", "job/configs", "model"])
    mkdirSync(join(folder, part), { recursive: true, mode: 0o755 });
  const progress = new TransferProgress(journal);
  // All must have ended before anything is torn down.
  const results = await Promise.allSettled([pullImage(member, progress), stageInputs(member, progress), makeKit(member)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  writeFileSync(join(folder, "job", "spec.json"), JSON.stringify(runnerSpec(member)), { mode: 0o644 });
  journal.note({}, { kind: "staged", bytes: progress.done });
}

async function pullImage({ tools, journal, ref, stopped }: MemberContext, progress: TransferProgress): Promise<void> {
  const { containers, coordinator } = tools;
  const { image } = journal.state.desired;
  if (await whileEngineIsAway(() => containers.hasImage(image), stopped))
    return tools.records.image(journal.state.desired, false);
  const login = await persist(() => coordinator.pullToken(ref), stopped);
  await whileEngineIsAway(() => containers.pull(image, login, () => progress.moved("image", 1), stopped), stopped).catch(
    (error: unknown) => {
      if (!(error instanceof PullFailedError)) throw error;
      throw new MemberFailure("image_pull_failed", `the image ${image} could not be pulled: ${error.message}`);
    },
  );
  tools.records.image(journal.state.desired, true);
}

async function stageInputs(member: MemberContext, progress: TransferProgress): Promise<void> {
  const { tools, journal, ref, disk, stopped } = member;
  const { inputs, resources } = journal.state.desired;
  if (inputs.length === 0) return;
  const total = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  let urls = await presigned(member);
  for (const input of inputs) {
    const file = targetOf(input, member);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    const source = {
      ca: tools.rootCert,
      url: async (isOutdated: boolean): Promise<string> => {
        if (isOutdated) urls = await presigned(member);
        const url = urls.get(input.id);
        if (url === undefined) throw new MemberFailure("staging_failed", `there is no URL for ${input.target}`);
        return url;
      },
    };
    await download(source, input, file, (bytes) => progress.moved("inputs", bytes, total), stopped);
    if (input.kind !== "shard") continue;
    await unpackZip(file, disk.path("payload"), resources.diskBytes, () => progress.moved("unpack", 0), stopped);
    rmSync(file);
    const { jobUid } = tools.config;
    await promisify(execFile)("chown", ["-R", "-h", `${jobUid}:${jobUid}`, disk.path("payload")]);
  }

  async function presigned({ tools: { coordinator } }: MemberContext): Promise<Map<string, string>> {
    const reply = await persist(() => coordinator.stage(ref), stopped);
    return new Map(reply.urls.map(({ id, url }) => [id, url]));
  }
}

/** Where an input lies; a target that would leave its place is refused. The zip lies on the member's own disk and counts to its limit. */
function targetOf(input: StagedInput, { disk, folder }: MemberContext): string {
  if (input.kind === "shard") return disk.path("events", ".shard.zip");
  const [place, below] = {
    model: ["", "model"],
    script: ["job", "job/scripts"],
    config: ["job", "job/configs"],
    checkpoint: ["job", "job/resume"],
  }[input.kind] as [string, string];
  const file = resolve(folder, place, input.target);
  if (file.startsWith(join(folder, below) + sep)) return file;
  throw new MemberFailure("staging_failed", `${input.target} is no place for a ${input.kind}`);
}

/** Keys of this member (and, beside the server, of the job's submitter), signed by the attempt's root. Only requests leave the node. */
async function makeKit({ tools, journal, ref, folder, stopped }: MemberContext): Promise<void> {
  const { coordinator, config } = tools;
  const put = (name: string, text: string): void => {
    const file = join(folder, "job", "kit", name);
    if (existsSync(file)) rmSync(file);
    writeFileSync(file, text, { mode: 0o400, flag: "wx" });
    chownSync(file, config.jobUid, config.jobUid);
  };
  const isServer = journal.state.desired.role.kind === "server";
  for (const identity of isServer ? (["member", "admin"] as const) : (["member"] as const)) {
    const { keyPem, csrPem } = await makeKey();
    const { cert, rootCert } = await persist(() => coordinator.sign(ref, identity, csrPem), stopped);
    put(identity === "member" ? KIT_FILES.key : KIT_FILES.adminKey, keyPem);
    put(identity === "member" ? KIT_FILES.cert : KIT_FILES.adminCert, cert);
    put(KIT_FILES.rootCert, rootCert);
  }
}

function runnerSpec({ journal }: MemberContext): RunnerSpec {
  const { job, attempt, fence, role, federation, bridge, inputs } = journal.state.desired;
  const model = inputs.find(({ kind }) => kind === "model");
  return {
    formatVersion: 1,
    role: role.kind,
    job,
    attempt,
    fence,
    org: federation.org,
    serverName: federation.serverName,
    // On another node than the server's it is found at the gateway, on the port of the bridge.
    serverPort: bridge?.kind === "dial" ? bridge.port : federation.serverPort,
    sites: federation.sites,
    site: role.kind === "client" ? role.site : null,
    minClients: federation.minClients,
    numRounds: federation.numRounds,
    taskRequestIntervalS: federation.taskRequestIntervalMs / 1000,
    modelFile: model === undefined ? null : `/app/model/${basename(model.target)}`,
    resume: federation.resume === null ? null : { ...federation.resume, modelFile: RESUME_MODEL },
  };
}

function mountsOf({ tools: { config, leaseDir }, journal, disk, folder }: MemberContext): Mounts {
  const hasModel = journal.state.desired.inputs.some(({ kind }) => kind === "model");
  return {
    initBinary: config.initBinary,
    leaseDir,
    runnersDir: config.runnersDir,
    jobDir: join(folder, "job"),
    modelDir: hasModel ? join(folder, "model") : null,
    payload: disk.path("payload"),
    out: disk.path("out"),
    tmp: disk.path("tmp"),
    workspace: disk.path("workspace"),
    events: disk.path("events"),
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
