/** A job that does nothing for hours, beneath whatever a proof does to its appliance. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import { ApplianceApi } from "../../../dev/appliance-api.ts";
import { runChild } from "../../../dev/child.ts";
import type { LocalAppliance } from "../../../dev/local-appliance.ts";

const HOURS = 4;

export class LastingJob {
  /** Of its script in the owner's bucket. */
  static readonly SCRIPT = "jobs/lasting/scripts/wait.py";

  readonly id: string;
  readonly #owner: LocalAppliance;

  private constructor(owner: LocalAppliance, id: string) {
    this.#owner = owner;
    this.id = id;
  }

  /** @param folder an empty one. @returns once it runs */
  static async begin(owner: LocalAppliance, folder: string): Promise<LastingJob> {
    const script = join(folder, "wait.py");
    writeFileSync(script, `import time\ntime.sleep(${HOURS} * 3600)\n`);
    await runChild(
      join(owner.root, "current", "bin", "resontech"),
      ["storage", "put", script, LastingJob.SCRIPT],
      { env: { PATH: process.env["PATH"], ...owner.quickstart() }, quiet: true },
    );
    const api = new ApplianceApi(owner);
    const { status, body } = await api.call("POST", "/api/tasks", {
      ...{ kind: "command", name: "lasting", scriptPath: `/${LastingJob.SCRIPT}` },
      ...{ gpuModels: ["cpu"], timeLimitMinutes: HOURS * 60 },
    });
    api.close();
    if (status >= 300) throw new Error(`the job was refused: ${JSON.stringify(body)}`);
    const job = new LastingJob(owner, (body as TaskReply).id);
    while ((await job.state()).status !== "RUNNING") await sleep(500);
    return job;
  }

  async state(): Promise<{ status: string; attempt: number }> {
    const api = new ApplianceApi(this.#owner);
    try {
      const { body } = await api.call("GET", `/api/tasks/${this.id}`);
      const { status, detail } = body as TaskReply;
      return { status, attempt: detail.attempt };
    } finally {
      api.close();
    }
  }

  /** @returns once nothing of it runs */
  async cancel(): Promise<void> {
    const api = new ApplianceApi(this.#owner);
    await api.call("POST", `/api/tasks/${this.id}/cancel`);
    await api.untilEnded(this.id, 60_000);
    api.close();
  }
}
