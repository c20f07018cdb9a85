import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Command, CommandOutbox } from "../kernel/command-outbox.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { LastModelCopies } from "./last-model-copies.ts";
import type { LogMerges } from "./log-merges.ts";
import type { OutputTable, UploadRow } from "../kernel/output-table.ts";
import { retryWaitMs } from "./decisions/retry-wait.ts";

const KINDS = ["abort-upload", "remove-version", "hide-output"] as const;

export type StoreParts = {
  lastModels: Pick<LastModelCopies, "makeDue">;
  logMerges: Pick<LogMerges, "makeDue">;
  commit: GroupCommit;
  commands: CommandOutbox;
  outputs: OutputTable;
  store: ObjectStore;
  now: () => number;
  onError: (error: unknown) => void;
};

/**
 * Does in the object store what a transaction decided in the rows: URLs of a withdrawn fence die, checkpoints that nobody will go on from
 * are removed, an earlier job's outputs hidden, last models copied, logs merged. Repeats until it is done.
 */
export class StorePump {
  readonly #parts: StoreParts;
  readonly #rounds = new SharedRun();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  /** Starts a round unless one is under way. */
  kick(): void {
    void this.#rounds.run(() => this.#round());
  }

  async idle(): Promise<void> {
    await this.#rounds.idle();
  }

  async #round(): Promise<void> {
    const { commit, commands, lastModels, logMerges, now, onError } = this.#parts;
    await lastModels.makeDue();
    for (const kind of KINDS)
      for (let due = commands.due(kind); due.length > 0; due = commands.due(kind)) {
        for (const command of due) {
          try {
            await this.#carryOut(command);
            await commit.run(() => commands.done(command.seq));
          } catch (error) {
            onError(error);
            const waitMs = retryWaitMs(command.attempts);
            await commit.run(() => commands.defer(command.seq, now() + waitMs)).catch(onError);
          }
        }
      }
    await logMerges.makeDue();
  }

  async #carryOut(command: Command): Promise<void> {
    const { outputs, store } = this.#parts;
    const upload = command.kind === "hint" ? undefined : outputs.get(command.uploadId);
    if (upload === undefined) return;
    if (command.kind === "abort-upload") {
      if (upload.s3_upload_id === null) await this.#abortUnnamed(upload);
      else await store.abortUpload(upload.bucket, upload.key, upload.s3_upload_id);
    }
    if (command.kind === "remove-version" && upload.version_id !== null)
      await store.remove(upload.bucket, upload.key, upload.version_id);
    if (command.kind === "hide-output") await this.#hide(upload);
  }

  /** By a delete marker, unless it is hidden, deleted or overwritten already. */
  async #hide(upload: UploadRow): Promise<void> {
    const { commit, outputs, store } = this.#parts;
    const current = await store.stat(upload.bucket, upload.key);
    if (current === null || current.versionId !== upload.version_id) return;
    // First: a marker that nobody owned up to would be taken for the user's own deletion.
    await commit.run(() => outputs.setHidden(upload.id));
    await store.remove(upload.bucket, upload.key);
  }

  /** The store may have opened one that we never learnt the id of. */
  async #abortUnnamed({ bucket, key }: UploadRow): Promise<void> {
    const { outputs, store } = this.#parts;
    const listed = await store.listUploads(bucket, key);
    // Read after the listing: whatever of it is somebody's stands in a row by now, if only as one without an id.
    const unfinished = outputs.unfinishedOf({ bucket, key });
    if (unfinished.includes(null))
      throw new Error(`${bucket}/${key} is being opened; what is nobody's there is not known yet`);
    for (const upload of listed)
      if (upload.key === key && !unfinished.includes(upload.uploadId))
        await store.abortUpload(bucket, key, upload.uploadId);
  }
}
