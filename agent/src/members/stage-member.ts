/** From nothing to a running container: disk, inputs, image, keys, network. Begun anew after a crash, until the container is there. */
import { execFile } from "node:child_process";
import { chownSync, copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { promisify } from "node:util";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { persist } from "../bus/persist.ts";
import { containerOptions, JOB_HOSTNAME, type Mounts } from "../containers/container-options.ts";
import { OWN_FILES, ownFiles } from "../containers/decisions/own-files.ts";
import { whileEngineIsAway } from "../containers/engine-retry.ts";
import { PullFailedError } from "../containers/job-containers.ts";
import { DevicesNotFreeError } from "../probes/accelerators.ts";
import { offThread } from "../off-thread/off-thread.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "./member-failure.ts";
import { makeKey } from "./member-keys.ts";
import { placeOf } from "./place-of.ts";
import { takeUid } from "./take-uid.ts";
import { TransferProgress } from "./transfer-progress.ts";

export async function stageMember(member: MemberContext): Promise<void> {
  const { tools, journal, disk, containerName, stopped } = member;
  const { desired } = journal.state;
  stopped.throwIfAborted();
  const uid = takeUid(member);
  const isNew = (await whileEngineIsAway(() => tools.containers.inspect(containerName), stopped)) === null;
  if (isNew) {
    await prepare(member, uid);
    stopped.throwIfAborted();
    await whileEngineIsAway(() => tools.network.create(desired.attempt), stopped);
  }
  // What is staged for a container that a killed agent had made is in use: it is started as it is.
  const attachment = await whileEngineIsAway(() => tools.network.connect(placeOf(journal.state.desired)), stopped);
  await tools.network.prove(desired.attempt);
  if (isNew) {
    const files = ownFiles(uid, JOB_HOSTNAME, attachment.address, attachment.hosts);
    for (const file of OWN_FILES) writeFileSync(disk.path("etc", file), files[file], { mode: 0o644 });
  }
  const options = containerOptions(desired, {
    name: containerName,
    instance: tools.config.instance,
    engine: tools.config.containerEngine.kind,
    uid,
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

async function prepare(member: MemberContext, uid: number): Promise<void> {
  const { tools, journal, disk } = member;
  const { resources, inputs, payload } = journal.state.desired;
  const deviceBaseline = await tools.accelerators.claim(resources.workers).catch((error: unknown) => {
    throw error instanceof DevicesNotFreeError ? new MemberFailure("device_fault", error.message) : error;
  });
  journal.note({ deviceBaseline }, { kind: "progress", step: "claimed", done: 0 });
  // Files that a killed agent left half done would look like doubled entries.
  await disk.remove();
  // What is only read is not the job's to use up.
  const readOnlyBytes = inputs
    .filter(({ kind }) => kind !== "shard" && kind !== "file")
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  await disk.create(resources.diskBytes + readOnlyBytes, uid);
  for (const part of ["kit", "scripts", "configs"]) mkdirSync(disk.path("job", part), { mode: 0o755 });
  // Copies: a mount of the release's own files would tell where it is installed.
  copyFileSync(tools.config.initBinary, disk.path("init", "rt-init"));
  cpSync(tools.config.runnersDir, disk.path("runner"), { recursive: true });
  const progress = new TransferProgress(journal);
  // All must have ended before anything is torn down.
  const results = await Promise.allSettled([
    pullImage(member, progress),
    stageInputs(member, progress, uid),
    makeKit(member, uid),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  for (const { name, text } of payload.files) writeFileSync(disk.path("job", name), text, { mode: 0o644 });
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

async function stageInputs(member: MemberContext, progress: TransferProgress, uid: number): Promise<void> {
  const { tools, journal, ref, disk, stopped } = member;
  const { inputs, resources } = journal.state.desired;
  if (inputs.length === 0) return;
  const total = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  let urls = await presigned(member);
  for (const input of inputs) {
    const url = async (isOutdated: boolean): Promise<string> => {
      if (isOutdated) urls = await presigned(member);
      const found = urls.get(input.id);
      if (found === undefined) throw new MemberFailure("staging_failed", `there is no URL for ${input.target}`);
      return found;
    };
    const onProgress = ({ bytes }: { bytes: number }): void => progress.moved("inputs", bytes, total);
    if (input.kind !== "shard") {
      const file = targetOf({ kind: input.kind, target: input.target }, member);
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      await offThread({ kind: "file", input, file, ca: tools.rootCert }, { url, onProgress }, stopped);
      continue;
    }
    const [folder, maxBytes] = [disk.path("payload"), resources.diskBytes];
    await offThread({ kind: "shard", input, folder, maxBytes, ca: tools.rootCert }, { url, onProgress }, stopped);
  }
  if (inputs.some(({ kind }) => kind === "shard" || kind === "file"))
    await promisify(execFile)("chown", ["-R", "-h", `${uid}:${uid}`, disk.path("payload")]);

  async function presigned({ tools: { coordinator } }: MemberContext): Promise<Map<string, string>> {
    const reply = await persist(() => coordinator.stage(ref), stopped);
    return new Map(reply.urls.map(({ id, url }) => [id, url]));
  }
}

/** Where an input that stays a file lies; a target that would leave its place is refused. */
function targetOf(input: { kind: Exclude<StagedInput["kind"], "shard">; target: string }, { disk }: MemberContext): string {
  const [place, below] = {
    model: ["", "model"],
    script: ["job", "job/scripts"],
    config: ["job", "job/configs"],
    checkpoint: ["job", "job/resume"],
    file: ["", "payload"],
  }[input.kind] as [string, string];
  const file = resolve(disk.mountPoint, place, input.target);
  if (file.startsWith(join(disk.mountPoint, below) + sep)) return file;
  throw new MemberFailure("staging_failed", `${input.target} is no place for a ${input.kind}`);
}

/** Keys of this member, made here and signed by the attempt's root. Only requests leave the node. */
async function makeKit({ tools, journal, ref, disk, stopped }: MemberContext, uid: number): Promise<void> {
  const { certificates } = journal.state.desired.payload;
  if (certificates === null) return;
  const { coordinator } = tools;
  const put = (name: string, text: string): void => {
    const file = disk.path("job", "kit", name);
    if (existsSync(file)) rmSync(file);
    writeFileSync(file, text, { mode: 0o400, flag: "wx" });
    chownSync(file, uid, uid);
  };
  for (const { identity, key, certificate } of certificates.leaves) {
    const { keyPem, csrPem } = await makeKey();
    const { cert, rootCert } = await persist(() => coordinator.sign(ref, identity, csrPem), stopped);
    put(key, keyPem);
    put(certificate, cert);
    put(certificates.root, rootCert);
  }
}

function mountsOf({ tools: { leaseDir }, journal, disk }: MemberContext): Mounts {
  const hasModel = journal.state.desired.inputs.some(({ kind }) => kind === "model");
  return {
    initBinary: disk.path("init", "rt-init"),
    leaseDir,
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

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
