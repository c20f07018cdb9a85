import type { ArrayPoint, ArrayReply } from "@resontech/contracts/http-arrays";
import { bestMetric } from "@resontech/contracts/final-metrics";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { Lasted } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { countsSentence, namesIn, sortKeyOf } from "./array-words.ts";

const ASKED_EVERY_MS = 10_000;

/** Each job of an array: what it was given, how it stands, and what it printed last. */
export function ArrayPage({ id }: { id: string }) {
  const array = useQuery({
    queryKey: ["array", id],
    queryFn: ({ signal }) => ask("GET", "/api/arrays/{id}", { params: { id }, signal }),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : ASKED_EVERY_MS),
  });
  if (array.isPending) return <Skeleton rows={6} />;
  if (array.isError && array.data === undefined)
    return (
      <>
        <PageHead title="Array" above={<Link href="/arrays">Arrays</Link>} />
        <Failure error={array.error} retry={() => void array.refetch()} />
      </>
    );
  const { name, points, counts, atOnce, owner } = array.data;
  return (
    <>
      <PageHead
        title={name}
        about="Array"
        above={<Link href="/arrays">Arrays</Link>}
        actions={
          isOver(array.data) ? null : (
            <CancelArray array={array.data} onDone={() => void array.refetch()} />
          )
        }
      >
        {`${countOf(points.length, "job")} of ${owner}: ${countsSentence(counts)}. ${atOnce === null ? "All may run at once." : `At most ${atOnce} run at once.`}`}
      </PageHead>
      <Panel title="Results">
        <Table
          caption={`Jobs of ${name}`}
          columns={columnsOf(points)}
          rows={points}
          keyOf={({ index }) => String(index)}
        />
      </Panel>
    </>
  );
}

function CancelArray({ array, onDone }: { array: ArrayReply; onDone: () => void }) {
  const mayCancel = useMay("job.cancel");
  const [isAsked, setAsked] = useState(false);
  const action = useAction(async () => {
    await ask("POST", "/api/arrays/{id}/cancel", { params: { id: array.id } });
    setAsked(false);
    onDone();
  });
  if (!mayCancel) return null;
  const left = array.counts.waiting + array.counts.running;
  return (
    <>
      <Button onPress={() => setAsked(true)}>Cancel the array</Button>
      <Question
        title={`Cancel ${countOf(left, "job")} of ${array.name}?`}
        act="Cancel them"
        isOpen={isAsked}
        isBusy={action.isBusy}
        onAct={() => action.run()}
        onClose={() => {
          action.forget();
          setAsked(false);
        }}
      >
        <p>Jobs that have ended stay as they are.</p>
        {action.error === null ? null : <Failure error={action.error} />}
      </Question>
    </>
  );
}

function columnsOf(points: readonly ArrayPoint[]): Column<ArrayPoint>[] {
  const parameters = namesIn(points.map((point) => point.parameters));
  return [
    {
      title: "Point",
      narrow: "main",
      of: ({ index, job }) =>
        job === null ? index : <Link href={`/jobs/${job.id}`}>{String(index)}</Link>,
      by: ({ index }) => index,
    },
    ...parameters.map(
      (name): Column<ArrayPoint> => ({
        title: name,
        narrow: "below",
        of: (point) => point.parameters[name] ?? "",
        by: (point) => sortKeyOf(point.parameters[name]),
      }),
    ),
    {
      title: "State",
      narrow: "below",
      of: ({ job }) => (job === null ? "deleted" : <State of={jobWord(job.state)} />),
      by: ({ job }) => job?.state ?? null,
    },
    ...metricColumns(points),
    {
      title: "Ran",
      narrow: "below",
      of: ({ job }) =>
        job?.startedAt == null ? "" : <Lasted from={job.startedAt} to={job.endedAt} />,
    },
  ];
}

function metricColumns(points: readonly ArrayPoint[]): Column<ArrayPoint>[] {
  return namesIn(points.map(({ metrics }) => metrics)).map((name) => {
    const best = bestMetric(
      name,
      points.map(({ metrics }) => metrics[name] ?? null),
    );
    return {
      ...{ title: name, narrow: "below", isNumber: true },
      of: ({ metrics: { [name]: value } }) =>
        value === undefined ? (
          ""
        ) : value === best ? (
          <strong>{textOf(value)} (best)</strong>
        ) : (
          textOf(value)
        ),
      by: ({ metrics }) => metrics[name] ?? null,
    };
  });
}

function textOf(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function isOver(array: ArrayReply | undefined): boolean {
  return array !== undefined && array.counts.waiting + array.counts.running === 0;
}
