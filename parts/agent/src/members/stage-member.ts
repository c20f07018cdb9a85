/** From nothing to a running member: files, inputs, image, keys, network. Begun anew after a crash, until what runs is there. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { persist } from "../bus/persist.ts";
import { offThread } from "../off-thread/off-thread.ts";
import type { Area, StagedPart } from "../substrate/area.ts";
import { DevicesNotFreeError, ImageNotHadError } from "../substrate/substrate-errors.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "../member-failure.ts";
import { makeKey } from "./member-keys.ts";
import { TransferProgress } from "./transfer-progress.ts";

export async function stageMember(member: MemberContext): Promise<void> {
  const { journal, enclosure, stopped } = member;
  stopped.throwIfAborted();
  reserve(member);
  const isNew = !(await enclosure.isMade(stopped));
  if (isNew) {
    await prepare(member);
    stopped.throwIfAborted();
    await enclosure.makeNetwork(stopped);
  }
  await enclosure.connect(journal.state.desired.bridge ?? null, stopped);
  await enclosure.proveClosed();
  const container = await enclosure.start(stopped);
  journal.note(
    { phase: "running", kept: enclosure.kept },
    { kind: "started", container: container.slice(0, 64) },
  );
}

/** Chosen and noted without a pause: whoever is staged next must find it taken. */
function reserve({ tools, journal, enclosure, ref }: MemberContext): void {
  const others = tools.store.load().filter(({ desired }) => desired.member !== ref.member);
  enclosure.reserve(others.map(({ kept }) => kept));
  journal.note({ kept: enclosure.kept });
}

async function prepare(member: MemberContext): Promise<void> {
  const { journal, enclosure } = member;
  const { area } = enclosure;
  const { payload } = journal.state.desired;
  await enclosure.claimDevices().catch((error: unknown) => {
    throw error instanceof DevicesNotFreeError
      ? new MemberFailure("device_fault", error.message)
      : error;
  });
  journal.note({ kept: enclosure.kept }, { kind: "progress", step: "claimed", done: 0 });
  await enclosure.makeArea();
  for (const part of ["kit", "scripts", "configs"])
    mkdirSync(area.path("job", part), { mode: 0o755 });
  const progress = new TransferProgress(journal);
  // All must have ended before anything is torn down.
  const results = await Promise.allSettled([
    haveImage(member, progress),
    stageInputs(member, progress),
    makeKit(member),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  for (const { name, text } of payload.files)
    writeFileSync(area.path("job", name), text, { mode: 0o644 });
  journal.note({}, { kind: "staged", bytes: progress.done });
}

async function haveImage(
  { tools, journal, enclosure, ref, stopped }: MemberContext,
  progress: TransferProgress,
): Promise<void> {
  const { desired } = journal.state;
  const wishes = {
    login: () => persist(() => tools.coordinator.pullToken(ref), stopped),
    onProgress: () => progress.moved("image", 1),
  };
  const isFetched = await enclosure.haveImage(wishes, stopped).catch((error: unknown) => {
    if (!(error instanceof ImageNotHadError)) throw error;
    throw new MemberFailure(
      "image_pull_failed",
      `the image ${desired.image} could not be pulled: ${error.message}`,
    );
  });
  tools.records.image(desired, isFetched);
}

async function stageInputs(member: MemberContext, progress: TransferProgress): Promise<void> {
  const { tools, journal, ref, enclosure, stopped } = member;
  const { area } = enclosure;
  const { inputs, resources } = journal.state.desired;
  if (inputs.length === 0) return;
  const total = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  let urls = await presigned(member);
  for (const input of inputs) {
    const url = async (isOutdated: boolean): Promise<string> => {
      if (isOutdated) urls = await presigned(member);
      const found = urls.get(input.id);
      if (found === undefined)
        throw new MemberFailure("staging_failed", `there is no URL for ${input.target}`);
      return found;
    };
    const onProgress = ({ bytes }: { bytes: number }): void =>
      progress.moved("inputs", bytes, total);
    if (input.kind !== "shard") {
      const file = targetOf({ kind: input.kind, target: input.target }, area);
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      await offThread(
        { kind: "file", input, file, ca: tools.doorCa() },
        { url, onProgress },
        stopped,
      );
      continue;
    }
    const [folder, maxBytes] = [area.path("payload"), resources.diskBytes];
    await offThread(
      { kind: "shard", input, folder, maxBytes, ca: tools.doorCa() },
      { url, onProgress },
      stopped,
    );
  }
  if (inputs.some(({ kind }) => kind === "shard" || kind === "file"))
    await area.giveToJob(area.path("payload"));

  async function presigned({
    tools: { coordinator },
  }: MemberContext): Promise<Map<string, string>> {
    const reply = await persist(() => coordinator.stage(ref), stopped);
    return new Map(reply.urls.map(({ id, url }) => [id, url]));
  }
}

/** Answers where an input that stays a file lies; a target that would leave its place is refused. */
function targetOf(
  input: { kind: Exclude<StagedInput["kind"], "shard">; target: string },
  area: Area,
): string {
  const [part, from, below] = TARGETS[input.kind];
  const target = posix.resolve(from, input.target);
  const isBelow = !posix.isAbsolute(input.target) && target.startsWith(`${below}/`);
  if (isBelow) return area.path(part, target.slice(`/${part}/`.length));
  throw new MemberFailure("staging_failed", `${input.target} is no place for a ${input.kind}`);
}

/** The part of the area, where a relative target begins, and the folder that it must stay below. */
const TARGETS: Record<
  Exclude<StagedInput["kind"], "shard">,
  [part: StagedPart, from: string, below: string]
> = {
  model: ["model", "/", "/model"],
  script: ["job", "/job", "/job/scripts"],
  config: ["job", "/job", "/job/configs"],
  checkpoint: ["job", "/job", "/job/resume"],
  file: ["payload", "/", "/payload"],
};

/** Keys of this member, made here and signed by the attempt's root. Only requests leave the node. */
async function makeKit({ tools, journal, ref, enclosure, stopped }: MemberContext): Promise<void> {
  const { certificates } = journal.state.desired.payload;
  if (certificates === null) return;
  const { coordinator } = tools;
  const { area } = enclosure;
  const put = async (name: string, text: string): Promise<void> => {
    const file = area.path("job", "kit", name);
    if (existsSync(file)) rmSync(file);
    writeFileSync(file, text, { mode: 0o400, flag: "wx" });
    await area.giveToJob(file);
  };
  for (const { identity, key, certificate } of certificates.leaves) {
    const { keyPem, csrPem } = await makeKey();
    const { cert, rootCert } = await persist(
      () => coordinator.sign(ref, identity, csrPem),
      stopped,
    );
    await put(key, keyPem);
    await put(certificate, cert);
    await put(certificates.root, rootCert);
  }
}
