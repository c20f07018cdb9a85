import { createHash, randomUUID } from "node:crypto";
import { SharedRun } from "@resontech/frame/shared-run";
import type { RecordEvent } from "../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { S3ResponseError } from "../storage/s3-transport.ts";
import { commitId, type FileDigest } from "./decisions/commit-id.ts";
import {
  type HubFile,
  type HubModel,
  ModelTable,
  noteDigest,
  noteFailed,
  noteReady,
  refKey,
} from "./model-table.ts";

const AGAIN_MS = 30_000;

export type ModelDigestsParts = {
  read: ReadHandle;
  commit: GroupCommit;
  record: RecordEvent;
  store: Pick<ObjectStore, "open" | "put">;
  onError: (error: unknown) => void;
};

/**
 * Reads each new model of the hub once, file by file, for the digests that it is known by from then on. What was read is kept: after a kill it goes
 * on with the next file. A store that is away is asked again.
 */
export class ModelDigests implements AsyncDisposable {
  readonly #parts: ModelDigestsParts;
  readonly #table: ModelTable;
  readonly #rounds = new SharedRun();
  readonly #abort = new AbortController();
  readonly #timer;

  constructor(parts: ModelDigestsParts) {
    this.#parts = parts;
    this.#table = new ModelTable(parts.read);
    this.#timer = setInterval(() => this.kick(), AGAIN_MS);
    this.kick();
  }

  /** Looks for new models, unless it is at it. */
  kick(): void {
    void this.#rounds.run(() => this.#round());
  }

  async idle(): Promise<void> {
    await this.#rounds.idle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await this.#rounds.idle();
  }

  async #round(): Promise<void> {
    const failed = new Set<string>();
    const next = () => this.#table.unchecked().find(({ id }) => !failed.has(id));
    for (let model = next(); model !== undefined; model = next()) {
      if (this.#abort.signal.aborted) return;
      try {
        await this.#check(model);
      } catch (error) {
        failed.add(model.id);
        if (!this.#abort.signal.aborted) this.#parts.onError(error);
      }
    }
  }

  async #check(model: HubModel): Promise<void> {
    const { commit, record, store } = this.#parts;
    const digests: FileDigest[] = [];
    for (const file of this.#table.files(model.id)) {
      const sha256 = file.sha256 ?? (await this.#digestOf(model, file));
      if (sha256 === null) {
        await commit.run((db) =>
          noteFailed(db, model.id, `${file.path} is no longer what was added`),
        );
        return;
      }
      digests.push({ path: file.path, sizeBytes: file.sizeBytes, sha256 });
    }
    const { id, name, licence, bucket } = model;
    const known = commitId(name, licence, digests);
    const ref = await store.put(bucket, refKey(known), known, "text/plain");
    await commit.run((db) => {
      if (!noteReady(db, id, known, ref)) return;
      record(db, {
        ...{ type: "model.ready", phase: "fact", op: randomUUID(), actor: COORDINATOR_ACTOR },
        object: { kind: "project", id: model.projectId },
        detail: { model: id, commit: known, files: digests.length },
      });
    });
  }

  /** Null where the version is not there any more, or is not as long as it was. */
  async #digestOf({ id, bucket }: HubModel, file: HubFile): Promise<string | null> {
    const { store, commit } = this.#parts;
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      const content = await store.open({ ...file, bucket }, null, this.#abort.signal);
      for await (const chunk of content as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    } catch (error) {
      if (error instanceof S3ResponseError && error.status === 404) return null;
      throw error;
    }
    if (bytes !== file.sizeBytes) throw new Error(`${file.key} ended after ${bytes} bytes`);
    const sha256 = hash.digest("hex");
    await commit.run((db) => noteDigest(db, id, file.path, sha256));
    return sha256;
  }
}
