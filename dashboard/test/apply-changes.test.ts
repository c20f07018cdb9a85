import type { Change } from "@resontech/contracts/live-feed";
import type { JobHistoryReply, JobMetricsReply, JobRow } from "@resontech/contracts/http-jobs";
import t from "tap";
import { applyToHistory } from "../src/live/apply-to-job.ts";
import { applyToRow, unknownJobs } from "../src/live/apply-to-list.ts";
import { applyToMetrics } from "../src/live/apply-to-metrics.ts";
import { alignedOf } from "../src/ui/chart/aligned-of.ts";
import { sentenceOf } from "../src/pages/job/sentence-of.ts";
import { whyOf } from "../src/pages/jobs/why-of.ts";
import { duration } from "../src/ui/instants.ts";

const at = "2026-01-01T00:00:10.000Z";
const told = (change: Change) => ({ at, change });
const row = { id: "job-1", state: "QUEUED", startedAt: null, endedAt: null } as unknown as JobRow;
const state = (to: "RUNNING" | "SUCCEEDED", from: "QUEUED" | null = "QUEUED"): Change => ({
  ...{ kind: "job", job: "job-1", attempt: "at-1", from, to, event: "start", reason: null },
  journal: 7,
});

t.test("a row follows its own job and stays the same object for every other", async (t) => {
  t.match(applyToRow(row, told(state("RUNNING"))), { state: "RUNNING", startedAt: at });
  t.match(applyToRow(row, told(state("SUCCEEDED"))), { state: "SUCCEEDED", endedAt: at });
  t.equal(applyToRow(row, told({ kind: "waiting", job: "job-2", why: "x" })), row);
  t.same(unknownJobs(new Set(["job-1"]), [told(state("RUNNING", null))]), []);
  t.same(unknownJobs(new Set(), [told(state("RUNNING", null)), told(state("RUNNING"))]), ["job-1"]);
});

t.test("an event that was read already is not told twice", async (t) => {
  const history = { projectId: "p", attempts: [], rounds: [], events: [] } as JobHistoryReply;
  const once = applyToHistory(history, told(state("RUNNING")));
  t.equal(once.events.length, 1);
  t.equal(applyToHistory(once, told(state("RUNNING"))), once);
});

t.test("a metric lengthens its curve, and one that was read already does nothing", async (t) => {
  const metrics: JobMetricsReply = { series: [], began: null, upTo: 4 };
  const metric = (number: number, value: string): Change => ({
    ...{ kind: "metric", job: "job-1", attempt: "at-1", site: "site-1", value, number },
  });
  t.equal(applyToMetrics(metrics, told(metric(4, '{"loss":1,"round":0}'))), metrics);
  const one = applyToMetrics(metrics, told(metric(5, '{"loss":1,"round":0}')));
  const two = applyToMetrics(one, told(metric(6, '{"loss":0.5,"round":1}')));
  t.same(two.series, [
    {
      ...{ site: "site-1", name: "loss", axis: "round" },
      points: [
        [0, 1, 1, 1],
        [1, 0.5, 0.5, 0.5],
      ],
    },
  ]);
  t.same(applyToMetrics(two, told(metric(7, "no JSON"))).upTo, 7);
});

t.test(
  "a page that stays open keeps a curve of bounded length, with its least and greatest",
  async (t) => {
    let metrics: JobMetricsReply = { series: [], began: null, upTo: 0 };
    const values = Array.from({ length: 20_000 }, (_, at) => (at * 7_919) % 1_000);
    for (const [at, value] of values.entries())
      metrics = applyToMetrics(
        metrics,
        told({
          ...{ kind: "metric", job: "job-1", attempt: "at-1", site: "site-1", number: at + 1 },
          value: JSON.stringify({ step: at, value }),
        }),
      );
    const { points } = metrics.series[0]!;
    t.ok(points.length <= 800, `${points.length} points`);
    t.equal(Math.min(...points.map(([, , least]) => least)), 0);
    t.equal(Math.max(...points.map(([, , , greatest]) => greatest)), 999);
    t.same(points.at(-1)?.slice(0, 2), [19_999, values.at(-1)]);
  },
);

t.test("lines of other places share one axis", async (t) => {
  t.same(
    alignedOf([
      { label: "a", points: [[1, 5, 4, 9]] },
      {
        label: "b",
        points: [
          [0, 6, 6, 6],
          [1, 7, 7, 7],
        ],
      },
    ]),
    {
      places: [0, 1],
      curves: [
        { label: "a", values: [null, 5], band: { least: [null, 4], most: [null, 9] } },
        { label: "b", values: [6, 7], band: { least: [6, 7], most: [6, 7] } },
      ],
    },
  );
});

t.test("a job that failed says so, whatever was wished of it when it ended", async (t) => {
  const rounds = { current: null, total: null };
  const ended = { state: "FAILED", desired: "stop", stoppedBy: null };
  const failed = { ...ended, waitingFor: null, attempt: 1, rounds };
  t.match(
    sentenceOf({ detail: failed, madeWay: null, workers: [] } as never),
    /^It ended without success/,
  );
  const stopping = {
    detail: { ...failed, state: "STOPPING" },
    madeWay: null,
    workers: [],
  } as never;
  t.match(sentenceOf(stopping), /^It was asked to stop/);
  const byAda = { detail: { ...failed, state: "STOPPING", stoppedBy: "ada" }, workers: [] };
  t.match(sentenceOf(byAda as never), /^ada asked it to stop, and its members end/);
});

t.test(
  "what the coordinator says of a job begins as a sentence, with sizes in units",
  async (t) => {
    const waitingFor = "its server needs 9663676416 bytes of memory; no node has as much";
    const sentence = "Its server needs 9.0 GiB of memory; no node has as much";
    const detail = { state: "QUEUED", waitingFor, desired: "run" };
    t.equal(sentenceOf({ detail, madeWay: null, workers: [] } as never), sentence);
    const madeWay = { project: { id: "p", name: "lung" }, afterRound: 3 };
    t.equal(
      sentenceOf({ detail, madeWay, workers: [] } as never),
      `It made way for project lung. Nothing is lost but what came after round 3. ${sentence}`,
    );
    const anew = { detail, madeWay: { project: null, afterRound: null }, workers: [] };
    t.match(sentenceOf(anew as never), /^It made way for another project. It begins anew. Its/);
    const leaving = { ...anew, detail: { ...detail, state: "PREEMPTING", resumable: true } };
    t.match(sentenceOf(leaving as never), /^It makes way for another project. It ends the round/);
    t.equal(whyOf({ ...row, waitingFor }), sentence);
    const told = { waitingFor: null, round: null, rounds: null, attempt: 1, reason: null };
    const ended = { ...row, ...told, reason: "out_of_memory" } as const;
    t.equal(whyOf(ended), "Out of memory");
    t.equal(whyOf({ ...row, ...told, state: "RUNNING", round: 2, rounds: 5 }), "Round 2 of 5");
    t.equal(whyOf({ ...row, ...told }), "");
  },
);

t.test("a duration is told by its two largest units", async (t) => {
  t.equal(duration(0), "0 s");
  t.equal(duration(61_000), "1 min 1 s");
  t.equal(duration(2 * 86_400_000 + 3_600_000), "2 d 1 h");
});
