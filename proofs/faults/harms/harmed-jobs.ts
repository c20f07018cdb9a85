/** Recorded jobs on an installed appliance, each with one harm beneath it; then what all of them left behind. */
import type { ProofAppliance } from "@resontech/house/proof-appliance";
import { openUploads } from "@resontech/house/open-uploads";
import { RecordedJobs } from "@resontech/house/recorded-job";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import { type AuditVerdicts, verifyAudit } from "@resontech/house/verify-audit";
import { doublesOf } from "../judge/doubles.ts";
import { readRecord } from "../judge/record.ts";
import { LivingContainers } from "../watch/living-containers.ts";
import { type Harm, type Harmed, isWhole, type JobEnd } from "./harm.ts";

export class HarmedJobs implements AsyncDisposable {
  readonly jobs: RecordedJobs;
  readonly api: ApplianceApi;
  readonly #installed: ProofAppliance;
  readonly #progress: (line: string) => void;
  readonly #limitMs: number;
  readonly #living: LivingContainers | null;

  private constructor(
    installed: ProofAppliance,
    jobs: RecordedJobs,
    progress: (line: string) => void,
    limitMs: number,
    isWatched: boolean,
  ) {
    this.#installed = installed;
    this.jobs = jobs;
    this.api = new ApplianceApi(installed.appliance);
    this.#progress = progress;
    this.#limitMs = limitMs;
    this.#living = isWatched ? new LivingContainers() : null;
  }

  /**
   * @param limitMs after which a job that has not ended fails the proof
   * @param isWatched whether two living members of one place would be seen in the host's processes
   */
  static async open(
    installed: ProofAppliance,
    progress: (line: string) => void,
    { limitMs, isWatched = false }: { limitMs: number; isWatched?: boolean },
  ): Promise<HarmedJobs> {
    const jobs = await RecordedJobs.open(installed.appliance, installed.folder("harmed"));
    return new HarmedJobs(installed, jobs, progress, limitMs, isWatched);
  }

  /** A job from its submission to its end, with the harm beneath it. */
  async through<Seen extends object>(harm: Harm<Seen>): Promise<Harmed<Seen>> {
    await harm.ready?.();
    const job = await this.jobs.submit(harm.name, harm.job);
    const from = Date.now();
    let ending: Promise<JobEnd> | undefined;
    const toItsEnd = (): Promise<JobEnd> => (ending ??= this.#endOf(job, from));
    const seen = await harm.happen(job, toItsEnd);
    const end = await toItsEnd();
    this.#progress(harm.tell(end, seen));
    return { end, seen, isGood: isWhole(end) && harm.holds(end, seen) };
  }

  /** What jobs left on their nodes and in the bucket, once releases that are under way are over. @param others who looks elsewhere */
  async leftBehind(...others: (() => string[] | Promise<string[]>)[]): Promise<string[]> {
    const left = await untilNothingIsLeft(this.#installed.appliance);
    for (const other of others) left.push(...(await other()));
    return [...left, ...(await openUploads(this.jobs.workstation))];
  }

  /** What the verifier says of the log, by the release that ran. */
  async verify(): Promise<AuditVerdicts> {
    const { appliance, bundle } = this.#installed;
    return await verifyAudit(appliance, this.#installed.folder("audit"), bundle.bundle);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.api.close();
    await this.#living?.[Symbol.asyncDispose]();
  }

  async #endOf(job: string, from: number): Promise<JobEnd> {
    const { status, detail } = await this.api.untilEnded(job, this.#limitMs);
    const seconds = Math.round((Date.now() - from) / 100) / 10;
    const { attempts, ...recorded } = readRecord(this.#installed.appliance, job);
    const doubles =
      this.#living === null ? [] : doublesOf(this.jobs, job, await this.#living.seen());
    return {
      ...{ state: status, attempt: detail.attempt, attempts: attempts.length },
      ...{ resumedAt: attempts.at(-1)?.startRound ?? 0, seconds, doubles, ...recorded },
    };
  }
}
