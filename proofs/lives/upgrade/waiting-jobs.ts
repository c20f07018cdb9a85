/** Small jobs of one person that wait for a worker while the appliance changes beneath them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import { ApplianceApi } from "@resontech/house/appliance-api";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { runChild } from "@resontech/house/run-child";
import type { JobState } from "../life/lasting-job.ts";

const SCRIPT = "jobs/waiting/scripts/short.py";

/** Instants as the API tells them; empty where there is none. */
export type WaitedJob = JobState & { name: string; startedAt: string; endedAt: string };

export class WaitingJobs implements Disposable {
  readonly #api: ApplianceApi;
  /** By their names, in the order in which they were submitted. */
  readonly #ids = new Map<string, string>();

  private constructor(api: ApplianceApi) {
    this.#api = api;
  }

  /** @param folder an empty one */
  static async begin(owner: LocalAppliance, folder: string): Promise<WaitingJobs> {
    const script = join(folder, "short.py");
    writeFileSync(script, "import time\ntime.sleep(1)\n");
    await runChild(
      join(owner.root, "current", "bin", "resontech"),
      ["storage", "put", script, SCRIPT],
      { env: { PATH: process.env["PATH"], ...owner.quickstart() }, quiet: true },
    );
    return new WaitingJobs(new ApplianceApi(owner));
  }

  get names(): string[] {
    return [...this.#ids.keys()];
  }

  /** @param after one that must have succeeded before, by its name */
  async submit(name: string, { after }: { after?: string } = {}): Promise<void> {
    const before = after === undefined ? undefined : this.#ids.get(after);
    const { status, body } = await this.#api.call("POST", "/api/tasks", {
      ...{ kind: "command", name, scriptPath: `/${SCRIPT}`, gpuModels: ["cpu"] },
      ...(before === undefined ? {} : { after: [{ job: before, when: "succeeded" }] }),
    });
    if (status !== 201) throw new Error(`${name} was refused: ${status} ${JSON.stringify(body)}`);
    this.#ids.set(name, (body as TaskReply).id);
  }

  /** Of each in turn, the exact one. */
  async states(): Promise<string[]> {
    const states: string[] = [];
    for (const id of this.#ids.values()) {
      const { status, body } = await this.#api.call("GET", `/api/tasks/${id}`);
      if (status !== 200) throw new Error(`${id}: ${status} ${JSON.stringify(body)}`);
      states.push((body as TaskReply).detail.state);
    }
    return states;
  }

  async untilEnded(limitMs: number): Promise<WaitedJob[]> {
    const ended: WaitedJob[] = [];
    for (const [name, id] of this.#ids) {
      const task = await this.#api.untilEnded(id, limitMs);
      const { status, detail, startedAt, endedAt } = task;
      ended.push({
        ...{ name, status, attempt: detail.attempt },
        ...{ startedAt: startedAt ?? "", endedAt: endedAt ?? "" },
      });
    }
    return ended;
  }

  [Symbol.dispose](): void {
    this.#api.close();
  }
}
