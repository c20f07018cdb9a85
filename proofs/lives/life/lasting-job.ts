/** A job that goes on beneath whatever a proof does to its appliance: one that does nothing for hours, or one that trains for many rounds. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { runChild } from "@resontech/house/run-child";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { Workstation } from "@resontech/house/workstation";

const HOURS = 4;

export type JobState = { status: string; attempt: number };

export type RoundsOptions = {
  name?: string;
  rounds: number;
  /** Where its sites must run. @default the server chooses */
  workers?: readonly string[];
};

export class LastingJob {
  /** Of the script that waits, in the owner's bucket. */
  static readonly SCRIPT = "jobs/lasting/scripts/wait.py";

  readonly id: string;
  readonly #owner: LocalAppliance;

  private constructor(owner: LocalAppliance, id: string) {
    this.#owner = owner;
    this.id = id;
  }

  /** A script that waits for hours. @param folder an empty one. @returns once it runs */
  static async wait(owner: LocalAppliance, folder: string): Promise<LastingJob> {
    const script = join(folder, "wait.py");
    writeFileSync(script, `import time\ntime.sleep(${HOURS} * 3600)\n`);
    await runChild(
      join(owner.root, "current", "bin", "resontech"),
      ["storage", "put", script, LastingJob.SCRIPT],
      { env: { PATH: process.env["PATH"], ...owner.quickstart() }, quiet: true },
    );
    const { status, body } = await asked(owner, (api) =>
      api.call("POST", "/api/tasks", {
        ...{ kind: "command", name: "lasting", scriptPath: `/${LastingJob.SCRIPT}` },
        ...{ gpuModels: ["cpu"], timeLimitMinutes: HOURS * 60 },
      }),
    );
    if (status >= 300) throw new Error(`the job was refused: ${JSON.stringify(body)}`);
    const job = new LastingJob(owner, (body as TaskReply).id);
    await job.untilRunning();
    return job;
  }

  /** The digits job, for many rounds. @param digits the owner's workstation, with shards. @returns once it is accepted */
  static async train(
    owner: LocalAppliance,
    digits: Workstation,
    { name = "through", rounds, workers }: RoundsOptions,
    progress: (line: string) => void,
  ): Promise<LastingJob> {
    const { id } = await digits.submit(
      (line) => progress(`  ${line}`),
      [
        ...["--rounds", String(rounds), "--name", name, "--detach"],
        ...(workers === undefined ? [] : ["--workers", workers.join(",")]),
      ],
    );
    return new LastingJob(owner, id);
  }

  /** The same job, asked after elsewhere. @param owner an appliance that it was put back on */
  on(owner: LocalAppliance): LastingJob {
    return new LastingJob(owner, this.id);
  }

  /** @param authorization the owner's platform key unless said otherwise */
  async reply(authorization?: string): Promise<{ status: number; task: TaskReply }> {
    const { status, body } = await asked(this.#owner, (api) =>
      api.call("GET", `/api/tasks/${this.id}`, undefined, authorization),
    );
    return { status, task: body as TaskReply };
  }

  async state(): Promise<JobState> {
    const { status, detail } = (await this.reply()).task;
    return { status, attempt: detail.attempt };
  }

  async untilRunning(): Promise<void> {
    while ((await this.state()).status !== "RUNNING") await sleep(500);
  }

  /** Asks through restarts of whoever answers. @throws Error after `limitMs` */
  async untilEnded(limitMs: number): Promise<TaskReply> {
    return await asked(this.#owner, (api) => api.untilEnded(this.id, limitMs));
  }

  /** @returns once nothing of it runs */
  async cancel(): Promise<void> {
    await asked(this.#owner, (api) => api.call("POST", `/api/tasks/${this.id}/cancel`));
    await this.untilEnded(60_000);
  }
}

/** Whether nothing that was done reached the job. @param status it runs until it is ended, or has ended by itself */
export function isUntouched(job: JobState, status: "RUNNING" | "FINISHED"): boolean {
  return job.status === status && job.attempt === 1;
}

async function asked<Said>(
  owner: LocalAppliance,
  ask: (api: ApplianceApi) => Promise<Said>,
): Promise<Said> {
  const api = new ApplianceApi(owner);
  try {
    return await ask(api);
  } finally {
    api.close();
  }
}
