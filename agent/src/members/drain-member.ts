/** The container has ended: what it leaves is stored, whatever became of it. */
import { RefusedError } from "../bus/refused-error.ts";
import { persist } from "../bus/persist.ts";
import type { JobFile } from "./job-file.ts";
import { LogShipper } from "./log-shipper.ts";
import type { MemberContext } from "./member-context.ts";
import { MemberFailure } from "./member-failure.ts";
import { LOG_OUTPUTS, modelKeys, openInContainer } from "./server-outputs.ts";
import { TransferProgress } from "./transfer-progress.ts";

const REOPENINGS = 5;

export async function drainMember(member: MemberContext): Promise<void> {
  const { journal, disk } = member;
  const { desired, model, failure, stop } = journal.state;
  await new LogShipper(member).finish();
  const progress = new TransferProgress(journal);
  const keys: string[] = [];
  if (desired.role.kind === "server") {
    for (const { path, key } of LOG_OUTPUTS) {
      using file = openInContainer(disk, path);
      if (file === null) continue;
      await upload(member, file, key, progress);
      keys.push(key);
    }
    if (model !== null && failure === null && stop === null) {
      using file = openInContainer(disk, model.file);
      if (file === null) throw new MemberFailure("output_missing", `there is no model at ${model.file}`);
      for (const key of modelKeys(model.name)) {
        await upload(member, file, key, progress);
        keys.push(key);
      }
    }
  }
  journal.note({ phase: "releasing" }, { kind: "outputs-uploaded", keys });
}

/** Until it is stored or refused for good; the coordinator's deadline bounds the tries. */
async function upload(member: MemberContext, file: JobFile, key: string, progress: TransferProgress): Promise<void> {
  const { tools, ref, abandoned } = member;
  const onBytes = (bytes: number): void => progress.moved("outputs", bytes);
  const output = { fd: file.fd, sizeBytes: file.sizeBytes, key, onBytes };
  for (let opened = 1; ; opened += 1) {
    try {
      await persist(() => tools.uploader.upload(ref, output, abandoned), abandoned);
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || ["stale_fence", "bucket_full"].includes(error.code)) throw error;
      // The upload is not known any more, or did not come together: it is begun anew.
      if (error.code !== "not_found" || opened === REOPENINGS)
        throw new MemberFailure("upload_failed", `${key} could not be stored: ${error.message}`);
    }
  }
}
