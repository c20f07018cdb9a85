/** Somebody with a project of their own on the installed appliance, who submits by the API and asks what becomes of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobPlacementReply, QueuedJob } from "@resontech/contracts/http-queue";
import type { ProjectReply } from "@resontech/contracts/http-projects";
import type {
  SubmitCommandBody,
  TaskReply,
  TaskVariantBody,
} from "@resontech/contracts/http-tasks";
import { ApplianceApi } from "@resontech/house/appliance-api";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ProofAppliance } from "@resontech/house/proof-appliance";
import { runChild } from "@resontech/house/run-child";
import { untilFound } from "@resontech/house/until-found";

const SCRIPT = "jobs/waits/scripts/wait.py";
const STATE_MS = 120_000;

export class Submitter implements Disposable {
  readonly name: string;
  readonly owner: LocalAppliance;
  /** Id of the project that their jobs are in. */
  readonly project: string;
  readonly projectName: string;
  readonly #api: ApplianceApi;
  readonly #submitted: string[] = [];

  private constructor(
    name: string,
    owner: LocalAppliance,
    api: ApplianceApi,
    project: ProjectReply,
  ) {
    this.name = name;
    this.owner = owner;
    this.#api = api;
    this.project = project.id;
    this.projectName = project.name;
  }

  /** A new person. */
  static async join(installed: ProofAppliance, name: string): Promise<Submitter> {
    const owner = await installed.appliance.addUser(name);
    const api = new ApplianceApi(owner);
    const { body } = await api.call("GET", "/api/projects");
    const own = (body as ProjectReply[]).find(({ isDefault }) => isDefault);
    if (own === undefined) throw new Error(`${name} has no project: ${JSON.stringify(body)}`);
    const submitter = new Submitter(name, owner, api, own);
    const script = join(installed.folder(name), "wait.py");
    writeFileSync(script, "import sys, time\ntime.sleep(float(sys.argv[1]))\n");
    await submitter.shell("storage", "put", script, SCRIPT);
    return submitter;
  }

  /** A script that waits. @returns the id of its job, once it is accepted */
  async wait(
    name: string,
    seconds: number,
    asked: Pick<SubmitCommandBody, "class" | "timeLimitMinutes" | "workersPerMember"> = {},
  ): Promise<string> {
    return await this.#accepted("/api/tasks", {
      ...{ kind: "command", name, scriptPath: `/${SCRIPT}`, arguments: [String(seconds)] },
      ...{ gpuModels: ["cpu"], ...asked },
    });
  }

  /** The same training once more. @returns the id of its job, once it is accepted */
  async again(job: string, asked: Pick<TaskVariantBody, "name" | "class">): Promise<string> {
    return await this.#accepted(`/api/tasks/${job}/variants`, asked);
  }

  async task(job: string): Promise<TaskReply> {
    return await this.#read<TaskReply>(`/api/tasks/${job}`);
  }

  async placement(job: string): Promise<JobPlacementReply> {
    return await this.#read<JobPlacementReply>(`/api/jobs/${job}/placement`);
  }

  /** Its row of the queue; undefined: it waits no longer. */
  async inQueue(job: string): Promise<QueuedJob | undefined> {
    const { jobs } = await this.#read<{ jobs: QueuedJob[] }>("/api/queue");
    return jobs.find(({ id }) => id === job);
  }

  /** @throws Error once it has ended otherwise */
  async untilState(job: string, state: TaskReply["detail"]["state"]): Promise<void> {
    await untilFound(
      `${job} to be ${state}`,
      async () => {
        const { status, detail } = await this.task(job);
        if (detail.state === state) return true;
        if (status === "FAILED" || status === "FINISHED")
          throw new Error(`${job} is ${detail.state}, not ${state}: ${detail.error?.message}`);
        return false;
      },
      STATE_MS,
    );
  }

  /** @returns the whole sentence, once the job waits for that */
  async untilWaitingFor(job: string, words: RegExp): Promise<string> {
    return await untilFound(
      `${job} to wait for ${words}`,
      async () => {
        const { detail } = await this.task(job);
        const { state, waitingFor } = detail;
        if (state !== "QUEUED") throw new Error(`${job} does not wait, it is ${state}`);
        return waitingFor !== null && words.test(waitingFor) ? waitingFor : null;
      },
      STATE_MS,
    );
  }

  /** @throws Error where it did not finish in time */
  async untilFinished(job: string, limitMs = STATE_MS): Promise<TaskReply> {
    const task = await this.#api.untilEnded(job, limitMs);
    if (task.status !== "FINISHED") throw new Error(`${job} ended: ${JSON.stringify(task.detail)}`);
    return task;
  }

  /** Ends what has not ended of all that was submitted here. */
  async cancelAll(): Promise<void> {
    for (const job of this.#submitted.splice(0)) {
      const { status } = await this.task(job);
      if (status === "FINISHED" || status === "FAILED") continue;
      await this.#api.call("POST", `/api/tasks/${job}/cancel`);
      await this.#api.untilEnded(job, STATE_MS);
    }
  }

  /** What `resontech` of the appliance says. */
  async shell(...words: string[]): Promise<string> {
    return await runChild(join(this.owner.root, "current", "bin", "resontech"), words, {
      ...{ env: { PATH: process.env["PATH"], ...this.owner.quickstart() }, quiet: true },
    });
  }

  [Symbol.dispose](): void {
    this.#api.close();
  }

  async #accepted(path: string, asked: Record<string, unknown>): Promise<string> {
    const { status, body } = await this.#api.call("POST", path, asked);
    if (status !== 201) throw new Error(`${path} was refused: ${JSON.stringify(body)}`);
    const { id } = body as TaskReply;
    this.#submitted.push(id);
    return id;
  }

  async #read<Reply>(path: string): Promise<Reply> {
    const { status, body } = await this.#api.call("GET", path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body as Reply;
  }
}
