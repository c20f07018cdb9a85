import { type CurvePoint, halved } from "@resontech/contracts/curve-points";
import type { WriteHandle } from "../db/open-database.ts";
import { curveStep, type CurveHead, EMPTY_CURVE } from "./decisions/curve-step.ts";

/** `printed`: by the job's own code, `devices`: what its devices were used. */
export type CurveKind = "printed" | "devices";
/** Of a job: what its code makes up beyond that is dropped. Of devices three for each of as many workers as a job may have. */
const MAX_CURVES: Record<CurveKind, number> = { printed: 256, devices: 768 };
/** @property axis what `place` counts */
export type NewPoint = { site: string; name: string; axis: string; place: number; value: number };

type CurveRow = CurveHead & { id: number };
type BucketRow = { place: number; last: number; least: number; greatest: number };

/** Curves of jobs, each in a bounded number of buckets: of points that came one after another, the last, the least and the greatest. */
export class CurveTable {
  readonly #begin;
  readonly #find;
  readonly #count;
  readonly #add;
  readonly #note;
  readonly #append;
  readonly #extend;
  readonly #buckets;
  readonly #clear;

  constructor(db: WriteHandle) {
    this.#begin = db.prepare<[object], { began: number; lines: number }>(
      `INSERT INTO curve_sets (job_id, kind, began, up_to, lines) VALUES (@job, @kind, @at, coalesce(@number, 1), 1)
       ON CONFLICT (job_id, kind) DO UPDATE SET up_to = coalesce(@number, lines + 1), lines = lines + 1
       RETURNING began, lines`,
    );
    this.#find = db.prepare<[object], CurveRow>(
      `SELECT id, width, buckets, in_last AS inLast FROM curves
       WHERE job_id = @job AND kind = @kind AND site = @site AND name = @name AND axis = @axis`,
    );
    this.#count = db
      .prepare<[string, CurveKind], number>(
        "SELECT count(*) FROM curves WHERE job_id = ? AND kind = ?",
      )
      .pluck();
    this.#add = db
      .prepare<[object], number>(
        `INSERT INTO curves (job_id, kind, site, name, axis, width, buckets, in_last)
         VALUES (@job, @kind, @site, @name, @axis, @width, @buckets, @inLast) RETURNING id`,
      )
      .pluck();
    this.#note = db.prepare<[CurveHead & { id: number }]>(
      "UPDATE curves SET width = @width, buckets = @buckets, in_last = @inLast WHERE id = @id",
    );
    this.#append = db.prepare<[number, number, number, number, number, number]>(
      "INSERT INTO curve_buckets (curve_id, number, place, last, least, greatest) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#extend = db.prepare<[object]>(
      `UPDATE curve_buckets SET place = @place, last = @value, least = min(least, @value), greatest = max(greatest, @value)
       WHERE curve_id = @id AND number = @number`,
    );
    this.#buckets = db.prepare<[number], BucketRow>(
      "SELECT place, last, least, greatest FROM curve_buckets WHERE curve_id = ? ORDER BY number",
    );
    this.#clear = db.prepare<[number]>("DELETE FROM curve_buckets WHERE curve_id = ?");
  }

  /**
   * A line of points came. Inside a transaction.
   * @param number of the line, rising; null: as many as came @param at Unix milliseconds
   * @returns when the job's first one came, and how many came with this one
   */
  noteLine(
    job: string,
    kind: CurveKind,
    number: number | null,
    at: number,
  ): { began: number; lines: number } {
    return this.#begin.get({ job, kind, at, number })!;
  }

  /** Inside a transaction, after the line that the point is of. */
  add(job: string, kind: CurveKind, { place, value, ...of }: NewPoint): void {
    const key = { job, kind, ...of };
    const found = this.#find.get(key);
    if (found === undefined && this.#count.get(job, kind)! >= MAX_CURVES[kind]) return;
    const { kind: step, head } = curveStep(found ?? EMPTY_CURVE);
    const id = found?.id ?? this.#add.get({ ...key, ...head })!;
    if (step === "extend") this.#extend.run({ id, number: head.buckets, place, value });
    else {
      if (step === "halve") this.#halve(id);
      this.#append.run(id, head.buckets, place, value, value, value);
    }
    if (found !== undefined) this.#note.run({ ...head, id });
  }

  #halve(id: number): void {
    const points = this.#buckets
      .all(id)
      .map(({ place, last, least, greatest }): CurvePoint => [place, last, least, greatest]);
    this.#clear.run(id);
    for (const [at, point] of halved(points).entries()) this.#append.run(id, at + 1, ...point);
  }
}
