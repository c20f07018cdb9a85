import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import { type Metric, seriesOf } from "./decisions/metric-series.ts";

/** Of a job's newest lines; all of them stand in its `metrics.jsonl`. */
const MAX_LINES = 50_000;

/** Curves of a job: what it printed as metrics. */
export class JobMetrics {
  readonly #lines;

  constructor(db: ReadHandle) {
    this.#lines = db.prepare<[string, number], Metric & { seq: number }>(
      "SELECT seq, site, value, at FROM metrics WHERE job_id = ? ORDER BY seq DESC LIMIT ?",
    );
  }

  of(jobId: string): JobMetricsReply {
    const lines = this.#lines.all(jobId, MAX_LINES);
    const began = lines.at(-1)?.at ?? null;
    return {
      upTo: lines[0]?.seq ?? 0,
      began: began === null ? null : new Date(began).toISOString(),
      series: seriesOf(lines.reverse()),
    };
  }
}
