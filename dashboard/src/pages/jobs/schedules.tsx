import type { Schedule, ScheduleRun } from "@resontech/contracts/http-schedules";
import { PAUSE_WORDS, runWords } from "@resontech/contracts/schedule-words";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Question } from "../../ui/question.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";

/** Jobs that repeat, with their next run and their last one. */
export function Schedules({
  schedules,
  nameOf,
}: {
  schedules: readonly Schedule[];
  nameOf: (project: string) => string;
}) {
  const client = useQueryClient();
  const [leaving, setLeaving] = useState<Schedule | null>(null);
  const mayChange = useMay("schedule.change");
  const again = () => void client.invalidateQueries({ queryKey: ["schedules"] });
  const pause = useAction(async ({ id, pausedBy }: Schedule) => {
    await ask("PUT", "/api/schedules/{id}", {
      params: { id },
      body: { isPaused: pausedBy === null },
    });
    again();
  });
  const remove = useAction(async (id: string) => {
    await ask("DELETE", "/api/schedules/{id}", { params: { id } });
    setLeaving(null);
    again();
  });
  return (
    <>
      {pause.error === null ? null : <Failure error={pause.error} />}
      <Table
        caption="Jobs that repeat"
        rows={schedules}
        keyOf={({ id }) => id}
        columns={[
          { title: "Schedule", narrow: "main", of: ({ name }) => name, by: ({ name }) => name },
          {
            title: "Calendar",
            of: ({ cron, timeZone }) => (
              <>
                <code>{cron}</code> {timeZone}
              </>
            ),
          },
          {
            title: "Next run",
            narrow: "below",
            of: ({ nextAt, pausedBy }) =>
              pausedBy === null && nextAt !== null ? (
                <At at={nextAt} />
              ) : pausedBy === null ? null : (
                sentenceCase(PAUSE_WORDS[pausedBy])
              ),
          },
          {
            title: "Last run",
            narrow: "below",
            of: ({ lastRun }) => (lastRun === null ? "none yet" : <LastRun run={lastRun} />),
          },
          { title: "Project", of: ({ projectId }) => nameOf(projectId) },
          { title: "Owner", of: ({ owner }) => owner },
          ...(mayChange
            ? [
                {
                  title: "Change",
                  of: (schedule: Schedule) => (
                    <>
                      <Button isDisabled={pause.isBusy} onPress={() => pause.run(schedule)}>
                        {schedule.pausedBy === null ? "Pause" : "Resume"}
                      </Button>{" "}
                      <Button
                        look="danger"
                        aria-label={`Remove ${schedule.name}`}
                        onPress={() => setLeaving(schedule)}
                      >
                        Remove
                      </Button>
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
      <Question
        title={`Remove the schedule ${leaving?.name ?? ""}?`}
        act="Remove the schedule"
        isOpen={leaving !== null}
        isBusy={remove.isBusy}
        onAct={() => {
          if (leaving !== null) remove.run(leaving.id);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>It makes no job any more. Jobs that it made stay.</p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
    </>
  );
}

function LastRun({ run: { outcome, code, job, dueAt } }: { run: ScheduleRun }) {
  if (job !== null)
    return (
      <Link href={`/jobs/${job}`}>
        <Ago at={dueAt} />
      </Link>
    );
  return (
    <>
      <Ago at={dueAt} />: {runWords({ outcome, code })}
    </>
  );
}
