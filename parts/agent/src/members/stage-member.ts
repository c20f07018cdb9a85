/** From nothing to a running member: files, inputs, image, keys, network. Begun anew after a crash, until what runs is there. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { persist } from "../bus/persist.ts";
import { DevicesNotFreeError, ImageNotHadError } from "../substrate/substrate-errors.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "../member-failure.ts";
import { makeKey } from "./member-keys.ts";
import { stageInputs } from "./stage-inputs.ts";
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
  ] as const);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  const [, staged] = results;
  const cachedBytes = staged.status === "fulfilled" ? staged.value : null;
  for (const { name, text } of payload.files)
    writeFileSync(area.path("job", name), text, { mode: 0o644 });
  journal.note(
    {},
    { kind: "staged", bytes: progress.done, ...(cachedBytes === null ? {} : { cachedBytes }) },
  );
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
