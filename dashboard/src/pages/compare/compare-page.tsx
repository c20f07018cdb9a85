import { finalMetrics } from "@resontech/contracts/final-metrics";
import { parameterRows } from "@resontech/contracts/parameter-rows";
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { useSession } from "../../api/session.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { ChartFigure } from "../../ui/chart/chart-figure.tsx";
import { ChartGroup } from "../../ui/chart/chart-group.tsx";
import { inUnit } from "../../ui/chart/units.ts";
import { countOf } from "../../ui/count-of.ts";
import { Ago, Lasted } from "../../ui/instant.tsx";
import { Empty, Failure, Warning } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { comparedJobs, labelsOf, MOST_COMPARED } from "./compared-jobs.ts";
import { overlaidFigures } from "./overlaid-curves.ts";
import { USE_ROWS } from "./use-summary.ts";
import styles from "./compare.module.css";

type Row = { name: string; cells: readonly ReactNode[] };

/** Of jobs that have not ended. */
const ASKED_EVERY_MS = 15_000;

/** What differs between jobs, and what came of it. The address says all that is chosen. */
export function ComparePage() {
  const { projects } = useSession();
  const [search, setSearch] = useSearchParams();
  const ids = comparedJobs(search);
  const bySite = search.get("sites") === "each";
  const byTime = search.get("by") === "time";
  const change = (name: string, value: string | null) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const choose = (jobs: readonly string[]) =>
    change("jobs", jobs.length === 0 ? null : jobs.join(","));
  const jobs = useQueries({
    queries: ids.map((id) => ({
      queryKey: ["job", id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask("GET", "/api/customer/dashboard/jobs/{id}", { params: { id }, signal }),
      refetchInterval: ({ state }: { state: { data?: { endedAt: string | null } | undefined } }) =>
        state.data?.endedAt === null ? ASKED_EVERY_MS : false,
    })),
  });
  const parameters = useQueries({
    queries: ids.map((id) => ({
      queryKey: ["job", id, "parameters"],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask("GET", "/api/jobs/{id}/parameters", { params: { id }, signal }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  const metrics = useQueries({
    queries: ids.map((id, at) => ({
      queryKey: ["job", id, "metrics"],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask("GET", "/api/jobs/{id}/metrics", { params: { id }, signal }),
      refetchInterval: jobs[at]?.data?.endedAt === null ? ASKED_EVERY_MS : (false as const),
    })),
  });
  const histories = useQueries({
    queries: ids.map((id) => ({
      queryKey: ["job", id, "history"],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask("GET", "/api/jobs/{id}/history", { params: { id }, signal }),
      enabled: byTime,
    })),
  });
  const uses = useQueries({
    queries: ids.map((id) => ({
      queryKey: ["job", id, "use", "summary"],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask("GET", "/api/jobs/{id}/use", { params: { id }, query: { points: 200 }, signal }),
      retry: false,
    })),
  });

  const head = (
    <PageHead
      title="Compare jobs"
      about="Compare"
      above={<Link href="/jobs">Jobs</Link>}
      actions={
        ids.length >= MOST_COMPARED ? null : (
          <AddJob chosen={ids} onAdd={(id) => choose([...ids, id])} />
        )
      }
    >
      {ids.length === 0
        ? `Up to ${MOST_COMPARED} jobs stand beside one another.`
        : `${countOf(ids.length, "job")}. The address keeps what is chosen: send it as a link.`}
    </PageHead>
  );
  if (ids.length === 0)
    return (
      <>
        {head}
        <Empty title="No job is chosen">
          <p>
            Choose one above, or tick jobs in <Link href="/jobs">the list</Link>.
          </p>
        </Empty>
      </>
    );
  const asked = [...jobs, ...parameters, ...metrics];
  const failed = asked.find(({ isError, data }) => isError && data === undefined);
  if (failed !== undefined)
    return (
      <>
        {head}
        <Failure
          error={failed.error}
          retry={() => {
            for (const one of asked) if (one.isError) void one.refetch();
          }}
        />
        <NotFound ids={ids} of={jobs.map(({ error }) => error)} onChoose={choose} />
      </>
    );
  if (asked.some(({ data }) => data === undefined))
    return (
      <>
        {head}
        <Skeleton />
      </>
    );
  const shown = jobs.map(({ data }) => data!);
  const labels = labelsOf(shown.map(({ jobId, jobName }) => ({ id: jobId, name: jobName })));
  const made = parameters.map(({ data }) => data!);
  const printed = metrics.map(({ data }) => data!);
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
  const rows = parameterRows(made, { projectName: nameOf, size: bytes });
  const finals = finalMetrics(printed.map(({ series }) => series));
  const columns = columnsOf(labels);
  const outcome: Row[] = [
    {
      name: "Job",
      cells: shown.map(({ jobId, jobName, detail }) => (
        <div className={styles["job"]}>
          <Link href={`/jobs/${jobId}`}>{jobName}</Link>
          <State of={jobWord(detail.state)} />
          <Button
            look="quiet"
            aria-label={`Take out ${jobName}`}
            onPress={() => choose(ids.filter((id) => id !== jobId))}
          >
            Take out
          </Button>
        </div>
      )),
    },
    { name: "Submitted", cells: shown.map(({ createdAt }) => <Ago at={createdAt} />) },
    {
      name: "Ran for",
      cells: shown.map(({ startedAt, endedAt }) =>
        startedAt === null ? "–" : <Lasted from={startedAt} to={endedAt} />,
      ),
    },
    { name: "Rounds ended", cells: shown.map(({ detail }) => String(detail.rounds.done)) },
    ...finals.map(({ name, values, isBest }) => ({
      name: `Last ${name}`,
      cells: values.map((value, at) => (
        <span className={styles["value"]}>
          {value === null ? "–" : inUnit("number", value)}
          {isBest[at] === true ? <span className={styles["best"]}>best</span> : null}
        </span>
      )),
    })),
    ...USE_ROWS.map(({ name, say }) => ({
      name,
      cells: uses.map(({ data, isPending }) =>
        data === undefined ? (isPending ? "…" : "not known") : say(data) || "–",
      ),
      isKnown: uses.some(({ data }) => data !== undefined && say(data) !== ""),
    })).filter(({ isKnown }) => isKnown),
  ];
  const figures = overlaidFigures(
    labels.map((label, at) => ({
      ...{ label, metrics: printed[at]!, startedAt: shown[at]!.startedAt },
      rounds: histories[at]?.data?.rounds ?? [],
    })),
    { bySite, byTime },
  );
  const differing = rows.filter(({ isDifferent }) => isDifferent);
  const same = rows.filter(({ isDifferent }) => !isDifferent);
  return (
    <>
      {head}
      <Table
        caption="What came of it"
        columns={columns}
        rows={outcome}
        keyOf={({ name }) => name}
      />
      <Panel title="What differs">
        {ids.length === 1 ? (
          <p>Add a job to see what differs.</p>
        ) : differing.length === 0 ? (
          <p>Nothing: the jobs were made of the same.</p>
        ) : (
          <Table
            caption="What differs"
            columns={columns}
            rows={differing}
            keyOf={({ name }) => name}
          />
        )}
        <details>
          <summary>{countOf(same.length, "thing is", "things are")} the same</summary>
          <Table
            caption="What is the same"
            columns={columns}
            rows={same}
            keyOf={({ name }) => name}
          />
        </details>
      </Panel>
      <h2 className={styles["heading"]}>Curves</h2>
      {printed.every(({ series }) => series.length === 0) ? (
        <p>None of these jobs printed a metric.</p>
      ) : (
        <ChartGroup
          tools={
            <div className={styles["choices"]}>
              <label>
                <input
                  type="checkbox"
                  checked={bySite}
                  onChange={({ target }) => change("sites", target.checked ? "each" : null)}
                />{" "}
                Each site
              </label>
              <label>
                <input
                  type="checkbox"
                  checked={byTime}
                  onChange={({ target }) => change("by", target.checked ? "time" : null)}
                />{" "}
                By time since the start
              </label>
            </div>
          }
          about={
            bySite ? "" : "Lines are means of a job's sites, between the least and the greatest."
          }
        >
          {figures.map(({ title, axis, plot }) => (
            <ChartFigure
              key={title}
              title={title}
              of="Job"
              unit="number"
              axis={axis === "seconds" ? "number" : "whole"}
              axisName={axis}
              plot={plot}
            />
          ))}
        </ChartGroup>
      )}
      {byTime && figures.length === 0 && histories.every(({ isPending }) => !isPending) ? (
        <Warning>
          <p>These metrics name steps or epochs, and nobody knows when those were.</p>
        </Warning>
      ) : null}
    </>
  );
}

/** One column for each job, in the order of the address. */
function columnsOf(labels: readonly string[]): Column<Row>[] {
  return [
    { title: "What", of: ({ name }) => <span className={styles["name"]}>{name}</span> },
    ...labels.map((label, at) => ({
      title: label,
      of: ({ cells }: Row) => <span className={styles["value"]}>{cells[at]}</span>,
    })),
  ];
}

/** A kept link may name a job that is gone, or that the person may not read. */
function NotFound({
  ids,
  of: errors,
  onChoose,
}: {
  ids: readonly string[];
  of: readonly unknown[];
  onChoose: (ids: readonly string[]) => void;
}) {
  const gone = ids.filter((_, at) => errors[at] != null && asProblem(errors[at]).status === 404);
  if (gone.length === 0) return null;
  return (
    <div>
      <Button onPress={() => onChoose(ids.filter((id) => !gone.includes(id)))}>
        Show the others
      </Button>
    </div>
  );
}

function AddJob({ chosen, onAdd }: { chosen: readonly string[]; onAdd: (id: string) => void }) {
  const list = useQuery({
    queryKey: ["jobs", "to compare"],
    queryFn: ({ signal }) => ask("GET", "/api/jobs", { query: { limit: 200 }, signal }),
  });
  if (list.data === undefined) return null;
  const others = list.data.jobs.filter(({ id }) => !chosen.includes(id));
  return (
    <label className={styles["add"]}>
      Compare with
      <select
        value=""
        onChange={({ target }) => onAdd(target.value)}
        disabled={others.length === 0}
      >
        <option value="">{others.length === 0 ? "no other job" : "choose a job"}</option>
        {others.map(({ id, name, state }) => (
          <option key={id} value={id}>
            {name}, {jobWord(state).word} ({id.slice(-6)})
          </option>
        ))}
      </select>
    </label>
  );
}
