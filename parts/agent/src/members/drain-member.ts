/** The container has ended: what it leaves is stored, whatever became of it. */
import { isStaleFence, RefusedError } from "../bus/refused-error.ts";
import { persist } from "../bus/persist.ts";
import { modelKeys } from "../decisions/model-keys.ts";
import { chooseOwnFiles } from "../decisions/own-files.ts";
import type { JobFile } from "../substrate/area.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";
import { LogShipper } from "./log-shipper.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "../member-failure.ts";
import { TransferProgress } from "./transfer-progress.ts";

const REOPENINGS = 5;
/** Of what a member printed the end comes back as one file; all of it lies in chunks below `logs/`. */
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;
const OUT = `${JOB_PATHS.out}/`;

export async function drainMember(member: MemberContext): Promise<void> {
  const { journal, enclosure } = member;
  const { area } = enclosure;
  const { desired, model, failure, stop } = journal.state;
  await new LogShipper(member).finish();
  const progress = new TransferProgress(journal);
  const keys: string[] = [];
  const { logs, printed, models, files } = desired.payload.outputs;
  for (const { file: path, key } of logs) {
    using file = await area.open(path);
    if (file === null) continue;
    await upload(member, file, key, progress);
    keys.push(key);
  }
  if (printed !== null) await storePrinted(member, printed, keys);
  if (models !== null && model !== null && failure === null && stop === null) {
    using file = await area.open(model.file);
    if (file === null)
      throw new MemberFailure("output_missing", `there is no model at ${model.file}`);
    for (const key of modelKeys(models, model.name)) {
      await upload(member, file, key, progress);
      keys.push(key);
    }
  }
  // Who cancels waits for the end.
  if (files !== null && (stop === null || stop.reason === "attempt_ended"))
    await storeOwnFiles(member, files, progress, keys);
  journal.note({ phase: "releasing" }, { kind: "outputs-uploaded", keys });
}

/** Stores the end of what was printed, where hints send people. A member whose log can't be stored has done its part nevertheless. */
async function storePrinted(
  { tools, ref, enclosure, abandoned }: MemberContext,
  key: string,
  keys: string[],
): Promise<void> {
  using file = await enclosure.area.open(JOB_PATHS.output);
  if (file === null || file.sizeBytes === 0) return;
  const start = Math.max(0, file.sizeBytes - MAX_PRINTED_BYTES);
  try {
    await tools.uploader.upload(
      ref,
      { fd: file.fd, start, sizeBytes: file.sizeBytes - start, key },
      abandoned,
    );
    keys.push(key);
  } catch (error) {
    if (abandoned.aborted || isStaleFence(error)) throw error;
    tools.log.warn(
      { err: error, member: ref.member, key },
      "a member's log is not stored as one file; its chunks are",
    );
  }
}

/** What the job's code wrote in `/app/out` beside the model. What does not come back is said. */
async function storeOwnFiles(
  member: MemberContext,
  { site, folder }: { site: string; folder: string },
  progress: TransferProgress,
  keys: string[],
): Promise<void> {
  const { journal, enclosure } = member;
  const { area } = enclosure;
  const { model } = journal.state;
  const modelPath = model?.file.startsWith(OUT) === true ? model.file.slice(OUT.length) : null;
  const { files, left } = chooseOwnFiles(await area.list(JOB_PATHS.out), folder, modelPath);
  if (left !== null)
    journal.note({}, { kind: "warning", site, topic: "files-left-out", text: left });
  for (const { path, key } of files) {
    using file = await area.open(OUT + path);
    if (file === null) continue;
    await upload(member, file, key, progress);
    keys.push(key);
  }
}

/** Tries until a file is stored or refused for good; the coordinator's deadline bounds the tries. */
async function upload(
  member: MemberContext,
  file: JobFile,
  key: string,
  progress: TransferProgress,
): Promise<void> {
  const { tools, ref, abandoned } = member;
  const onBytes = (bytes: number): void => progress.moved("outputs", bytes);
  const output = { fd: file.fd, sizeBytes: file.sizeBytes, key, onBytes };
  for (let opened = 1; ; opened += 1) {
    try {
      await persist(() => tools.uploader.upload(ref, output, abandoned), abandoned);
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || ["stale_fence", "bucket_full"].includes(error.code))
        throw error;
      // The upload is not known any more, or did not come together: it is begun anew.
      if (error.code !== "not_found" || opened === REOPENINGS)
        throw new MemberFailure("upload_failed", `${key} could not be stored: ${error.message}`);
    }
  }
}
