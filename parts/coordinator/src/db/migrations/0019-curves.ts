import type { Migration } from "@resontech/frame/migrate";

/**
 * Curves of jobs in a bounded number of buckets, and of the printed lines the newest thousand alone: all of them stand in the job's `metrics.jsonl`. Lines
 * that are there become curves as if they came now: 400 buckets of as many points as a power of two says, 256 curves of a job.
 */
export const curves: Migration = {
  version: 19,
  name: "curves",
  sql: `
    CREATE TABLE curve_sets (
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('printed', 'devices')),
      -- Of the first line, Unix milliseconds.
      began INTEGER NOT NULL,
      -- Number of the newest line.
      up_to INTEGER NOT NULL,
      lines INTEGER NOT NULL,
      PRIMARY KEY (job_id, kind)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE curves (
      id INTEGER PRIMARY KEY,
      job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('printed', 'devices')),
      site TEXT NOT NULL,
      name TEXT NOT NULL,
      axis TEXT NOT NULL CHECK (axis IN ('step', 'epoch', 'round', 'seconds')),
      -- Points of a full bucket.
      width INTEGER NOT NULL,
      buckets INTEGER NOT NULL,
      -- Points of the last bucket.
      in_last INTEGER NOT NULL,
      UNIQUE (job_id, kind, site, name, axis)
    ) STRICT;

    CREATE TABLE curve_buckets (
      curve_id INTEGER NOT NULL REFERENCES curves (id) ON DELETE CASCADE,
      -- From 1.
      number INTEGER NOT NULL,
      -- Of the last point.
      place REAL NOT NULL,
      last REAL NOT NULL,
      least REAL NOT NULL,
      greatest REAL NOT NULL,
      PRIMARY KEY (curve_id, number)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO curve_sets
      SELECT DISTINCT job_id, 'printed', first_value(at) OVER w, max(seq) OVER (PARTITION BY job_id), count(*) OVER (PARTITION BY job_id)
      FROM metrics WINDOW w AS (PARTITION BY job_id ORDER BY seq);

    CREATE TEMP TABLE old_points AS
      WITH numbers AS (
        SELECT metrics.seq, job_id, site, at, member.key AS name, CAST(member.value AS REAL) AS value
        FROM metrics, json_each(CASE WHEN json_valid(metrics.value) AND json_type(metrics.value) = 'object' THEN metrics.value ELSE '{}' END) member
        WHERE member.type IN ('integer', 'real') AND length(member.key) <= 64 AND abs(CAST(member.value AS REAL)) <= 1.7976931348623157e308
      ),
      lines AS (
        SELECT seq,
          coalesce(max(CASE name WHEN 'step' THEN name END), max(CASE name WHEN 'epoch' THEN name END), max(CASE name WHEN 'round' THEN name END), 'seconds') AS axis,
          coalesce(max(CASE name WHEN 'step' THEN value END), max(CASE name WHEN 'epoch' THEN value END), max(CASE name WHEN 'round' THEN value END)) AS place
        FROM numbers GROUP BY seq
      )
      SELECT numbers.seq, numbers.job_id, site, name, axis, value,
        coalesce(place, (at - began) / 1000.0) AS place,
        row_number() OVER curve AS point
      FROM numbers JOIN lines USING (seq) JOIN curve_sets ON curve_sets.job_id = numbers.job_id AND kind = 'printed'
      WHERE name NOT IN ('step', 'epoch', 'round')
      WINDOW curve AS (PARTITION BY numbers.job_id, site, name, axis ORDER BY numbers.seq);

    CREATE TEMP TABLE old_curves AS
      WITH RECURSIVE widths (width) AS (SELECT 1 UNION ALL SELECT width * 2 FROM widths WHERE width < 1073741824),
      counted AS (
        SELECT job_id, site, name, axis, count(*) AS points,
          row_number() OVER (PARTITION BY job_id ORDER BY min(seq), name) AS number
        FROM old_points GROUP BY job_id, site, name, axis
      )
      SELECT *, (SELECT min(width) FROM widths WHERE (points + width - 1) / width <= 400) AS width FROM counted WHERE number <= 256;

    INSERT INTO curves (job_id, kind, site, name, axis, width, buckets, in_last)
      SELECT job_id, 'printed', site, name, axis, width, (points + width - 1) / width, (points - 1) % width + 1
      FROM old_curves ORDER BY job_id, number;

    INSERT INTO curve_buckets
      SELECT DISTINCT id, (point - 1) / width + 1, last_value(place) OVER bucket, last_value(value) OVER bucket, min(value) OVER bucket, max(value) OVER bucket
      FROM old_points JOIN curves USING (job_id, site, name, axis)
      WINDOW bucket AS (PARTITION BY id, (point - 1) / width ORDER BY point ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);

    DROP TABLE old_points;
    DROP TABLE old_curves;
    DELETE FROM metrics WHERE seq <= (SELECT seq FROM metrics newer WHERE newer.job_id = metrics.job_id ORDER BY seq DESC LIMIT 1 OFFSET 1000);
  `,
};
