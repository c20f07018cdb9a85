import type { CurvePoint } from "@resontech/contracts/curve-points";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import type { CurveKind } from "./curve-table.ts";

type Series = JobMetricsReply["series"][number];
type BucketRow = Omit<Series, "points"> & {
  id: number;
  place: number;
  last: number;
  least: number;
  greatest: number;
};

/** Curves of a job: what it printed as metrics, or what its devices were used. */
export class JobMetrics {
  readonly #set;
  readonly #buckets;

  constructor(db: ReadHandle) {
    this.#set = db.prepare<[string, CurveKind], { began: number; up_to: number }>(
      "SELECT began, up_to FROM curve_sets WHERE job_id = ? AND kind = ?",
    );
    this.#buckets = db.prepare<[string, CurveKind], BucketRow>(
      `SELECT curves.id, site, name, axis, place, last, least, greatest FROM curves
       JOIN curve_buckets ON curve_id = curves.id WHERE job_id = ? AND kind = ? ORDER BY curves.id, number`,
    );
  }

  of(jobId: string, kind: CurveKind): JobMetricsReply {
    const set = this.#set.get(jobId, kind);
    const series = new Map<number, Series>();
    for (const { id, site, name, axis, ...bucket } of this.#buckets.all(jobId, kind)) {
      const { place, last, least, greatest } = bucket;
      const point: CurvePoint = [place, last, least, greatest];
      const found = series.get(id);
      if (found === undefined) series.set(id, { site, name, axis, points: [point] });
      else found.points.push(point);
    }
    return {
      upTo: set?.up_to ?? 0,
      began: set === undefined ? null : new Date(set.began).toISOString(),
      // A job that went on from an earlier round told the later ones twice.
      series: [...series.values()].map((one) => ({
        ...one,
        points: one.points.sort(([a], [b]) => a - b),
      })),
    };
  }
}
