import type { GroupCommit } from "../db/group-commit.ts";
import type { CommandOutbox } from "../kernel/command-outbox.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { OutputTable } from "./output-table.ts";

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;

export type AbortParts = {
  commit: GroupCommit;
  commands: CommandOutbox;
  outputs: OutputTable;
  store: ObjectStore;
  now: () => number;
  onError: (error: unknown) => void;
};

/** Aborts in the object store what a transaction aborted in the rows: URLs of a withdrawn fence die. Repeats until it is done. */
export class AbortPump {
  readonly #parts: AbortParts;
  #running: Promise<void> | null = null;

  constructor(parts: AbortParts) {
    this.#parts = parts;
  }

  /** Starts a round unless one is under way. */
  kick(): void {
    this.#running ??= this.#round().finally(() => {
      this.#running = null;
    });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #round(): Promise<void> {
    const { commit, commands, outputs, store, now, onError } = this.#parts;
    for (let due = commands.due("abort-upload"); due.length > 0; due = commands.due("abort-upload")) {
      for (const command of due) {
        if (command.kind !== "abort-upload") continue;
        const upload = outputs.get(command.uploadId);
        try {
          if (upload?.s3_upload_id != null) await store.abortUpload(upload.bucket, upload.key, upload.s3_upload_id);
          await commit.run(() => commands.done(command.seq));
        } catch (error) {
          onError(error);
          const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** command.attempts);
          await commit.run(() => commands.defer(command.seq, now() + waitMs)).catch(onError);
        }
      }
    }
  }
}
