/** Jobs that keep a record of themselves, on an installed appliance: submitted by the public client, followed by rows, containers, processes. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { type LocalAppliance, repository } from "../installed/local-appliance.ts";
import { Workstation } from "../installed/workstation.ts";
import { type ContainerProcess, runningMembers } from "./member-containers.ts";

export type RecordedJobOptions = {
  rounds: number;
  /** Half seconds of each round. */
  ticks: number;
  sites?: number;
  /** Sites that a round needs. @default all */
  quorum?: number;
  /** Where its sites must run. @default the server chooses */
  workers?: readonly string[];
};

export class RecordedJobs {
  readonly #appliance: LocalAppliance;
  readonly #workstation: Workstation;

  private constructor(appliance: LocalAppliance, workstation: Workstation) {
    this.#appliance = appliance;
    this.#workstation = workstation;
  }

  /** @param folder an empty folder that containers may enter */
  static async open(appliance: LocalAppliance, folder: string): Promise<RecordedJobs> {
    mkdirSync(join(folder, "shards"));
    const example = join(repository, "house", "src", "jobs", "recorded");
    return new RecordedJobs(appliance, await Workstation.open(appliance, folder, example));
  }

  get workstation(): Workstation {
    return this.#workstation;
  }

  /** @returns the job's id, once it is accepted */
  async submit(
    name: string,
    { rounds, ticks, sites = 2, quorum = sites, workers }: RecordedJobOptions,
  ): Promise<string> {
    const values = {
      rounds,
      ticks,
      sites,
      quorum,
      ...(workers === undefined ? {} : { workers: workers.join() }),
    };
    const flags = Object.entries(values).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const accepted = (
      await this.#workstation.events(["/example/submit.py", "--name", name, ...flags])
    ).at(-1);
    if (typeof accepted?.["id"] !== "string")
      throw new Error(`${name} was not accepted: ${JSON.stringify(accepted)}`);
    if (accepted["resumable"] !== true) throw new Error(`${name} is not resumable`);
    return accepted["id"];
  }

  /** Waits until a round of the job has begun; a round that began in an earlier attempt counts. */
  async untilRound(job: string, round: number, timeoutMs = 120_000): Promise<void> {
    await this.until(
      `round ${round} of ${job}`,
      (db) =>
        db.prepare("SELECT 1 FROM rounds WHERE job_id = ? AND round >= ?").get(job, round) !==
        undefined,
      timeoutMs,
    );
  }

  /** Waits until a round is committed. */
  async untilCommitted(job: string, round: number, timeoutMs = 120_000): Promise<void> {
    await this.until(
      `round ${round} of ${job} committed`,
      (db) =>
        db.prepare("SELECT 1 FROM checkpoints WHERE job_id = ? AND round >= ?").get(job, round) !==
        undefined,
      timeoutMs,
    );
  }

  /** Straight from the database: the coordinator may be the one that is away. */
  async until(
    what: string,
    holds: (db: Database.Database) => boolean,
    timeoutMs: number,
  ): Promise<void> {
    const db = this.open();
    try {
      for (const from = Date.now(); !holds(db); await sleep(100))
        if (Date.now() - from > timeoutMs)
          throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
    } finally {
      db.close();
    }
  }

  open(): Database.Database {
    return new Database(join(this.#appliance.root, "data", "coordinator", "coordinator.db"), {
      readonly: true,
    });
  }

  /** Containers of jobs that run, of this node's own engine. */
  containers(): ContainerProcess[] {
    return runningMembers(this.#appliance.engineSocket);
  }
}
