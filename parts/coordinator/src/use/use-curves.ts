import type { UseQuery, UseReply } from "@resontech/contracts/http-use";
import { KEPT_DAYS } from "@resontech/prometheus/kept-figures";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { JobView } from "../kernel/job-view.ts";
import { timeAxis } from "./decisions/time-axis.ts";
import {
  fleetUseQuery,
  jobUseQuery,
  nodeUseQuery,
  servingUseQuery,
} from "./decisions/use-queries.ts";
import { useSeries } from "./decisions/use-series.ts";
import type { PrometheusReader } from "./prometheus-reader.ts";

const DAY_MS = 86_400_000;
/** What a member was last is seen by a look after its end. */
const AFTER_END_MS = 45_000;
/** Of all curves of an answer together. */
const MAX_VALUES = 200_000;
const CURVES_OF_MEMBER = 12;
const MIN_POINTS = 2;

type Span = { fromMs: number; toMs: number };

/** What jobs, nodes and the fleet used, over time. */
export class UseCurves {
  readonly #prometheus: Pick<PrometheusReader, "range">;
  readonly #now: () => number;
  readonly #workers;
  readonly #members;

  constructor(read: ReadHandle, prometheus: Pick<PrometheusReader, "range">, now: () => number) {
    this.#prometheus = prometheus;
    this.#now = now;
    this.#workers = read
      .prepare<[string], string>(
        `SELECT DISTINCT workers.id FROM leases JOIN members ON members.id = leases.member_id
           JOIN workers ON workers.id = leases.worker_id
         WHERE members.job_id = ? AND workers.kind = 'gpu' ORDER BY workers.id`,
      )
      .pluck();
    this.#members = read
      .prepare<[string], number>("SELECT count(*) FROM members WHERE job_id = ?")
      .pluck();
  }

  /** Of all its attempts. Without a span: from its start to its end, or to now. @throws ApiError validation_failed, figures_away */
  async ofJob(
    {
      id,
      createdAt,
      startedAt,
      endedAt,
    }: Pick<JobView, "id" | "createdAt" | "startedAt" | "endedAt">,
    query: UseQuery,
  ): Promise<UseReply> {
    const now = this.#now();
    const toMs = endedAt === null ? now : Math.min(now, endedAt + AFTER_END_MS);
    const life = { fromMs: startedAt ?? createdAt, toMs };
    const curves = CURVES_OF_MEMBER * Math.max(1, this.#members.get(id) ?? 0);
    const points = Math.max(MIN_POINTS, Math.min(query.points, Math.floor(MAX_VALUES / curves)));
    const workers = this.#workers.all(id);
    return await this.#ask({ ...query, points }, life, (stepS) => jobUseQuery(id, workers, stepS));
  }

  /** Without a span: of the last day. @throws ApiError validation_failed, figures_away */
  async ofNode(node: string, query: UseQuery): Promise<UseReply> {
    return await this.#ask(query, this.#lastDay(), (stepS) => nodeUseQuery(node, stepS));
  }

  /** Calls, times, tokens and replicas. Without a span: of the last day. @throws ApiError validation_failed, figures_away */
  async ofDeployment(deployment: string, query: UseQuery): Promise<UseReply> {
    return await this.#ask(query, this.#lastDay(), (stepS) => servingUseQuery(deployment, stepS));
  }

  /** Without a span: of the last day. @throws ApiError validation_failed, figures_away */
  async ofFleet(query: UseQuery): Promise<UseReply> {
    return await this.#ask(query, this.#lastDay(), fleetUseQuery);
  }

  #lastDay(): Span {
    const now = this.#now();
    return { fromMs: now - DAY_MS, toMs: now };
  }

  async #ask(
    { from, to, points }: UseQuery,
    whole: Span,
    queryOf: (stepS: number) => string,
  ): Promise<UseReply> {
    const [fromMs, toMs] = [from ?? whole.fromMs, to ?? Math.max(whole.toMs, from ?? 0)];
    if (fromMs > toMs) throw new ApiError("validation_failed", "querystring/from is after its end");
    const axis = timeAxis(fromMs, toMs, points);
    const told = await this.#prometheus.range(queryOf(axis.stepS), axis);
    return { ...axis, keptDays: KEPT_DAYS, series: useSeries(axis, told) };
  }
}
