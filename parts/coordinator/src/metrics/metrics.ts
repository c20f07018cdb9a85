/**
 * What `GET /metrics` tells, in Prometheus' text format: of parts, nodes, devices, states of jobs and what their members use. Never of what a job learns, nor
 * who has it.
 */
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { SharedRun } from "@resontech/frame/shared-run";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { WorkerView } from "../kernel/fleet-view.ts";
import type { ToldMemberUse, ToldNodeUse } from "../kernel/told-uses.ts";
import type { DeviceHolder } from "./device-holders.ts";
import {
  applianceFamilies,
  type Family,
  healthFamilies,
  logFamilies,
  workerFamilies,
  workFamilies,
} from "./decisions/samples.ts";
import { type InferenceFacts, inferenceFamilies } from "./decisions/inference-samples.ts";
import { deviceHolderFamilies, memberFamilies, nodeUseFamilies } from "./decisions/use-samples.ts";
import { gaugeRegistry } from "./gauge-registry.ts";
import { RequestCounter } from "./request-counter.ts";
import { SubmissionTimes } from "./submission-times.ts";
import type { WorkCounts } from "./work-counts.ts";

export type MetricsSources = {
  version: string;
  now: () => number;
  work: (now: number) => WorkCounts;
  workers: () => readonly WorkerView[];
  uses: {
    members: () => readonly ToldMemberUse[];
    nodes: () => readonly ToldNodeUse[];
    devices: () => readonly DeviceHolder[];
  };
  health: () => Promise<CoordinatorHealth>;
  /** auditd's own words; it may be away. */
  log: () => Promise<LogStatus>;
  /** Absent: this appliance has no gateway of deployments. */
  inference?: () => readonly InferenceFacts[];
  /** Null where no supervisor wrote any. */
  appliance: () => ApplianceFacts | null;
};

/** auditd that has not answered by then has no line. */
const LOG_ANSWER_MS = 1_000;

export class Metrics {
  readonly requests: RequestCounter;
  readonly submissions: SubmissionTimes;
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #sources: MetricsSources;
  readonly #looks = new SharedRun<string>();

  constructor(sources: MetricsSources) {
    this.#sources = sources;
    this.requests = new RequestCounter(this.#registry);
    this.submissions = new SubmissionTimes(this.#registry);
    this.contentType = this.#registry.contentType;
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Two who ask at once share one look. */
  async text(): Promise<string> {
    return await this.#looks.run(() => this.#look());
  }

  async #look(): Promise<string> {
    const { version, now, work, workers, uses, health, log, appliance, inference } = this.#sources;
    const [told, logStatus] = await Promise.all([health(), within(LOG_ANSWER_MS, log)]);
    const facts = appliance();
    const families: Family[] = [
      ["build_info", "The release that runs.", [{ labels: { version }, value: 1 }]],
      ...workFamilies(work(now())),
      ...workerFamilies(workers()),
      ...memberFamilies(uses.members()),
      ...deviceHolderFamilies(uses.devices()),
      ...nodeUseFamilies(uses.nodes()),
      ...(inference === undefined ? [] : inferenceFamilies(inference())),
      ...healthFamilies(told),
      [
        "audit_answers",
        "1 where auditd says how it does.",
        [{ value: logStatus === null ? 0 : 1 }],
      ],
      ...(logStatus === null ? [] : logFamilies(logStatus)),
      ...(facts === null ? [] : applianceFamilies(facts, now())),
    ];
    const gauges = gaugeRegistry(families);
    return `${await this.#registry.metrics()}\n${await gauges.metrics()}`;
  }
}

/** Waits so many milliseconds for an answer; null where it fails, or takes longer. */
async function within<T>(ms: number, ask: () => Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  return await Promise.race([ask().catch(() => null), late.promise]).finally(() =>
    clearTimeout(timer),
  );
}
