/**
 * Commits rounds: the model that a round left is copied, checked against the digest that the runner took of it, stored with a manifest, and
 * told. One at a time, and the newest of those that came meanwhile: a round is worth nothing once a later one is committed.
 * The first at once, for from then on a lost job does not begin anew.
 */
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { formatFence } from "@resontech/contracts/fence";
import { SharedRun } from "@resontech/frame/shared-run";
import { offThread } from "../off-thread/off-thread.ts";
import type { MemberContext } from "./member-context.ts";

/** The copy must leave this many times its size to the job, whose disk it is. */
const LEAVE_FACTOR = 2;
/** What a lost job trains again beside one round and the time that storing took; committing each round of half a second would cost a quarter of its speed. */
const EVERY_MS = 2_000;

export type RoundModel = { round: number; file: string; sha256: string };

export class CheckpointUploads {
  readonly #member: MemberContext;
  readonly #storing = new SharedRun();
  #next: RoundModel | null = null;
  #beganAtMs = Number.NEGATIVE_INFINITY;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  request(model: RoundModel): void {
    if (this.#member.journal.state.desired.payload.outputs.checkpoints) this.#next = model;
  }

  /** Starts what is due. @param nowMs of a clock that is never set */
  tick(nowMs: number): void {
    if (this.#storing.isUnderWay || nowMs - this.#beganAtMs < EVERY_MS) return;
    this.#beganAtMs = this.#start() ? nowMs : this.#beganAtMs;
  }

  /** Stores what has been asked for, due or not. */
  async settle(): Promise<void> {
    await this.#storing.idle();
    this.#start();
    await this.#storing.idle();
  }

  #start(): boolean {
    const model = this.#next;
    this.#next = null;
    if (model === null) return false;
    void this.#storing.run(() => this.#storeOrGoOn(model));
    return true;
  }

  async #storeOrGoOn(model: RoundModel): Promise<void> {
    try {
      await this.#store(model);
    } catch (error) {
      const { tools, ref } = this.#member;
      // The job goes on: a later round brings a checkpoint of its own.
      tools.log.warn(
        { err: error, member: ref.member, round: model.round },
        "a round was not committed",
      );
    }
  }

  async #store({ round, file, sha256 }: RoundModel): Promise<void> {
    const { enclosure, journal, ref } = this.#member;
    const { area } = enclosure;
    // On the member's own account, beside what its job has of it: not even a full one is anybody else's trouble.
    const copy = area.scratch("checkpoint");
    try {
      using source = await area.open(file);
      if (source === null) throw new Error(`there is no model at ${file}`);
      if (area.freeBytes() < source.sizeBytes * (1 + LEAVE_FACTOR))
        throw new Error("the member's disk has no room for a copy");
      if (source.sizeBytes === 0) throw new Error("the model is empty");
      const range = { fd: source.fd, start: 0, length: source.sizeBytes };
      const digest = await offThread({ kind: "digest", range, copy }, {}, this.#member.abandoned);
      if (digest !== sha256) throw new Error("a later round has overwritten the model");
      const folder = `${ref.member}-${formatFence(ref.fence)}/${round}`;
      const model = await this.#upload(copy, source.sizeBytes, `${folder}/model`);
      const manifest = JSON.stringify({
        formatVersion: 1,
        round,
        files: [{ name: "model", sizeBytes: source.sizeBytes, sha256 }],
      });
      writeFileSync(copy, manifest, { mode: 0o600 });
      journal.note(
        {},
        {
          kind: "checkpoint",
          round,
          model,
          manifest: await this.#upload(
            copy,
            Buffer.byteLength(manifest),
            `${folder}/manifest.json`,
          ),
        },
      );
    } finally {
      rmSync(copy, { force: true });
    }
  }

  async #upload(file: string, sizeBytes: number, key: string): Promise<string> {
    const { tools, ref, abandoned } = this.#member;
    const fd = openSync(file, "r");
    try {
      return await tools.uploader.upload(
        ref,
        { fd, sizeBytes, key, area: "checkpoint" },
        abandoned,
      );
    } finally {
      closeSync(fd);
    }
  }
}
