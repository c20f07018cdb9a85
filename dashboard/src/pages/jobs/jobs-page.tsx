import type { JobListReply, JobRow } from "@resontech/contracts/http-jobs";
import {
  type InfiniteData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { applyToRow, unknownJobs } from "../../live/apply-to-list.ts";
import { useTopic } from "../../live/live.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { Ago, Lasted } from "../../ui/instant.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { loadedComponent } from "../../ui/loaded-component.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { comparisonOf, MOST_COMPARED } from "../compare/compared-jobs.ts";
import { countOf } from "../../ui/count-of.ts";
import { jobWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { JobFilters } from "./job-filters.tsx";
import { SavedViews } from "./saved-views.tsx";
import { whyOf } from "./why-of.ts";
import styles from "./jobs-page.module.css";

/** No part of the first load. */
const Schedules = loadedComponent(async () => (await import("./schedules.tsx")).Schedules);

type Pages = InfiniteData<JobListReply, number | undefined>;

/** Lists jobs for somebody who asks: where is mine? */
export function JobsPage() {
  const { projects } = useSession();
  const mayListSchedules = useMay("schedule.list");
  const [search] = useSearchParams();
  const filter = {
    state: search.get("state") ?? undefined,
    project: search.get("project") ?? undefined,
    text: search.get("text") ?? undefined,
  };
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const queryKey = ["jobs", filter];
  const client = useQueryClient();
  const [, go] = useLocation();
  const [isNew, setNew] = useState<readonly string[]>([]);
  /** In the order in which they were ticked. */
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const jobs = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: before, signal }) =>
      ask("GET", "/api/jobs", { query: { ...filter, before }, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const schedules = useQuery({
    queryKey: ["schedules"],
    queryFn: ({ signal }) => ask("GET", "/api/schedules", { signal }),
    enabled: mayListSchedules,
  });
  const repeating = schedules.data?.schedules ?? [];
  const refresh = () => {
    setNew([]);
    void client.resetQueries({ queryKey });
  };
  useTopic(
    { kind: "jobs" },
    (told) => {
      client.setQueryData<Pages>(queryKey, (old) =>
        old === undefined
          ? old
          : {
              ...old,
              pages: old.pages.map((page) => ({
                ...page,
                jobs: page.jobs.map((row) => told.reduce(applyToRow, row)),
              })),
            },
      );
      const known = new Set(rows.map(({ id }) => id));
      const came = unknownJobs(known, told);
      if (came.length > 0) setNew((before) => [...new Set([...before, ...came])]);
    },
    () => void client.invalidateQueries({ queryKey }),
  );
  const rows = jobs.data?.pages.flatMap((page) => page.jobs) ?? [];
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;

  return (
    <>
      <PageHead
        title="Jobs"
        actions={
          <>
            {isNew.length === 0 ? null : (
              <Button onPress={refresh}>
                {isNew.length === 1 ? "1 new job" : `${isNew.length} new jobs`}
              </Button>
            )}
            <LinkButton href="/arrays">Arrays</LinkButton>
          </>
        }
      />
      <JobFilters totals={jobs.data?.pages[0]?.totals ?? {}} projects={projects} />
      <SavedViews />
      {jobs.isPending ? <Skeleton /> : null}
      {jobs.isError ? <Failure error={jobs.error} retry={() => void jobs.refetch()} /> : null}
      {jobs.isSuccess && rows.length === 0 ? <NoJobs isFiltered={isFiltered} /> : null}
      {ticked.length === 0 ? null : (
        <div role="group" aria-label="Ticked jobs" className={styles["ticked"]}>
          <span role="status">
            {countOf(ticked.length, "job")} ticked
            {ticked.length === 1 ? ": tick another to compare them." : "."}
          </span>
          <Button
            look="main"
            isDisabled={ticked.length < 2}
            onPress={() => go(comparisonOf(ticked))}
          >
            Compare
          </Button>
          <Button look="quiet" onPress={() => setTicked([])}>
            Untick all
          </Button>
        </div>
      )}
      {rows.length === 0 ? null : (
        <Table
          caption="Jobs, newest first"
          columns={[tickColumn(ticked, setTicked), ...columns(nameOf)]}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {jobs.hasNextPage ? (
        <div>
          <Button onPress={() => void jobs.fetchNextPage()} isDisabled={jobs.isFetchingNextPage}>
            Older jobs
          </Button>
        </div>
      ) : null}
      {repeating.length === 0 ? null : <Schedules schedules={repeating} nameOf={nameOf} />}
    </>
  );
}

function tickColumn(
  ticked: readonly string[],
  onChange: (ticked: readonly string[]) => void,
): Column<JobRow> {
  return {
    title: "Tick",
    narrow: "own",
    of: ({ id, name }) => {
      const isTicked = ticked.includes(id);
      return (
        <input
          type="checkbox"
          aria-label={`Tick ${name}`}
          checked={isTicked}
          disabled={!isTicked && ticked.length >= MOST_COMPARED}
          onChange={() => onChange(isTicked ? ticked.filter((one) => one !== id) : [...ticked, id])}
        />
      );
    },
  };
}

function columns(nameOf: (project: string) => string): Column<JobRow>[] {
  return [
    {
      title: "State",
      narrow: "below",
      of: ({ state }) => <State of={jobWord(state)} />,
      by: ({ state }) => jobWord(state).word,
    },
    {
      title: "Name",
      narrow: "main",
      of: ({ id, name }) => (
        <Link href={`/jobs/${id}`} className={styles["name"] ?? ""}>
          {name}
        </Link>
      ),
      by: ({ name }) => name,
    },
    {
      title: "Why, or where",
      narrow: "below",
      of: (row) => {
        // That of most jobs is not said: the table has no room for a column of its own.
        const told = row.jobClass === "train" ? "" : row.jobClass;
        const why = [told, whyOf(row)].filter((words) => words !== "").join(" · ");
        return why === "" ? null : <span className={styles["why"]}>{why}</span>;
      },
    },
    {
      title: "Project",
      of: ({ projectId }) => nameOf(projectId),
      by: ({ projectId }) => nameOf(projectId),
    },
    { title: "Owner", of: ({ owner }) => owner, by: ({ owner }) => owner },
    { title: "Sites", of: ({ sites }) => sites, by: ({ sites }) => sites, isNumber: true },
    {
      title: "Waited",
      of: ({ createdAt, startedAt, endedAt }) => (
        <Lasted from={createdAt} to={startedAt ?? endedAt} />
      ),
      by: ({ createdAt, startedAt, endedAt }) => spanOf(createdAt, startedAt ?? endedAt),
      isNumber: true,
    },
    {
      title: "Ran",
      of: ({ startedAt, endedAt }) =>
        startedAt === null ? "" : <Lasted from={startedAt} to={endedAt} />,
      by: ({ startedAt, endedAt }) => (startedAt === null ? null : spanOf(startedAt, endedAt)),
      isNumber: true,
    },
    {
      title: "Submitted",
      of: ({ createdAt }) => <Ago at={createdAt} />,
      by: ({ createdAt }) => Date.parse(createdAt),
      isNumber: true,
    },
  ];
}

/** Milliseconds from one to the other, or until now. */
function spanOf(from: string, to: string | null): number {
  return (to === null ? Date.now() : Date.parse(to)) - Date.parse(from);
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  const maySubmit = useMay("job.submit");
  if (isFiltered)
    return (
      <Empty title="No job matches">
        <p>
          <Link href="/jobs">Show all jobs</Link>
        </p>
      </Empty>
    );
  return (
    <Empty title="No job yet">
      <p>A job trains a model on data of several sites, or runs one script on one worker.</p>
      {maySubmit ? (
        <>
          <LinkButton href="/submit">Submit the first job</LinkButton>
          <p>
            The Python client <code>resontech</code> does the same, and so does{" "}
            <code>resontech submit</code> in a shell.
          </p>
        </>
      ) : (
        <p>Jobs of your projects stand here as soon as somebody submits one.</p>
      )}
    </Empty>
  );
}
