/**
 * Once a day the newest believed checkpoint becomes a page to print: `<stateDir>/sheets/<slug>-<YYYY-MM-DD>.html`. On paper, and out of the
 * administrators' reach, it is an anchor: what is changed before it later shows. A day without this process has no sheet; the next start makes its own.
 */
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";
import { schedule } from "node-cron";
import type { Logger } from "pino";
import { asPage, printedCheckpoint } from "@resontech/audit/export/printed-checkpoint";
import type { LogFollower } from "../follow/log-follower.ts";

const EVERY_HOUR = "5 * * * *";
const KEPT_SHEETS = 400;
const SHEET = /^[0-9]{4}(-[0-9]{1,4})?-[0-9]{4}-[0-9]{2}-[0-9]{2}\.html$/;

export type DailySheetOptions = {
  follower: LogFollower;
  policyFile: string;
  stateDir: string;
  log: Logger;
  now?: () => Date;
};

export class DailySheet implements AsyncDisposable {
  readonly #options: DailySheetOptions;
  readonly #folder: string;
  readonly #stop: () => void | Promise<void>;
  readonly #turns = new Turns();

  constructor(options: DailySheetOptions) {
    this.#options = options;
    this.#folder = join(options.stateDir, "sheets");
    // Looked at every hour, written once a day: what can't be written at midnight comes later.
    const task = schedule(EVERY_HOUR, () => this.look(), {
      timezone: "Etc/UTC",
      noOverlap: true,
      name: "daily sheet",
    });
    this.#stop = () => task.destroy();
  }

  /** Writes today's sheet if it is not there and there is something to write. */
  look(): Promise<void> {
    return this.#turns
      .run(() => this.#write())
      .catch((error: unknown) => {
        this.#options.log.warn(
          { err: error },
          "today's checkpoint could not be written as a sheet",
        );
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#turns.idle();
  }

  async #write(): Promise<void> {
    const { follower, policyFile, now = () => new Date() } = this.#options;
    const shard = follower.shards.at(-1);
    if (shard === undefined || shard.tree.size === 0) return;
    const at = now().toISOString();
    const name = `${shard.slug}-${at.slice(0, 10)}.html`;
    await mkdir(this.#folder, { recursive: true, mode: 0o750 });
    const sheets = (await readdir(this.#folder)).filter((file) => SHEET.test(file)).sort();
    if (sheets.includes(name)) return;
    const sheet = printedCheckpoint(shard.tree.checkpoint.note, await readFile(policyFile));
    await replaceFile(join(this.#folder, name), asPage(sheet, at), 0o440);
    for (const old of sheets.slice(0, 1 - KEPT_SHEETS)) await rm(join(this.#folder, old));
  }
}
