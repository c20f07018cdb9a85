import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { askAgain } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Question } from "../../ui/question.tsx";
import { useAction } from "../../ui/use-action.ts";

/** The job once more, of the very versions that it was made of. */
export function Resubmit({ job }: { job: DashboardJobWithWorkers }) {
  const [, go] = useLocation();
  const [isAsked, setAsked] = useState(false);
  /** One for each time that the question is asked: a second press is the same job. */
  const idempotencyKey = useRef("");
  const again = useAction(async () => {
    const made = await askAgain("POST", "/api/tasks/{id}/resubmit", {
      params: { id: job.jobId },
      idempotencyKey: idempotencyKey.current,
    });
    setAsked(false);
    go(`/jobs/${made.id}`);
  });
  return (
    <>
      <Button
        onPress={() => {
          idempotencyKey.current = crypto.randomUUID();
          setAsked(true);
        }}
      >
        Submit again
      </Button>
      <Question
        title={`Submit ${job.jobName} again?`}
        act="Submit again"
        look="main"
        isOpen={isAsked}
        isBusy={again.isBusy}
        onAct={() => again.run()}
        onClose={() => {
          again.forget();
          setAsked(false);
        }}
      >
        <p>A new job begins, of the same inputs as this one read, whatever the folder holds now.</p>
        {again.error === null ? null : <Failure error={again.error} />}
      </Question>
    </>
  );
}
