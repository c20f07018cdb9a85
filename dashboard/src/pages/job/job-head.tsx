import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal } from "@resontech/contracts/job-states";
import { modelWords } from "@resontech/contracts/model-words";
import { roundWords } from "@resontech/contracts/round-words";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Bell } from "../../ui/bell.tsx";
import { Button } from "../../ui/button.tsx";
import { bytes } from "../../ui/bytes.ts";
import { Ago, At, Lasted } from "../../ui/instant.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Question } from "../../ui/question.tsx";
import { State } from "../../ui/state.tsx";
import { jobWord, memberWord } from "../../ui/state-word.ts";
import { comparisonOf } from "../compare/compared-jobs.ts";
import { endOf, sitesThatEndedWell } from "./ends-of.ts";
import { OrderFacts } from "./order-facts.tsx";
import { RankFacts } from "./rank-facts.tsx";
import { sentenceOf } from "./sentence-of.ts";
import { Words } from "../../ui/words.tsx";
import { errorHint, errorMessage } from "./error-hint.ts";
import styles from "./job-page.module.css";

type Job = DashboardJobWithWorkers;

/** What the job is, how it is, and what one can do about it. */
export function JobHead({ job }: { job: Job }) {
  const { detail } = job;
  const [, go] = useLocation();
  const well = isTerminal(detail.state)
    ? sitesThatEndedWell(job.workers, detail.error?.member)
    : null;
  const maySubmit = useMay("job.submit");
  const mayCancel = useMay("job.cancel") && !isTerminal(detail.state);
  return (
    <>
      <PageHead
        title={job.jobName}
        state={jobWord(detail.state)}
        above={
          <>
            <Link href="/jobs">Jobs</Link> / <code>{job.jobId}</code>
          </>
        }
        actions={
          <>
            {isTerminal(detail.state) ? null : <Bell job={job.jobId} />}
            <Button onPress={() => go(comparisonOf([job.jobId]))}>Compare with …</Button>
            {mayCancel && detail.desired === "run" ? <Cancel job={job} /> : null}
            {maySubmit ? (
              <Button onPress={() => go(`/submit?again=${job.jobId}`)}>Submit again</Button>
            ) : null}
          </>
        }
      >
        {sentenceOf(job)}
      </PageHead>
      <dl className={styles["facts"]}>
        <div>
          <dt>Submitted</dt>
          <dd>
            <Ago at={job.createdAt} />
          </dd>
        </div>
        {job.startedAt === null ? null : (
          <div>
            <dt>Ran for</dt>
            <dd>
              <Lasted from={job.startedAt} to={job.endedAt} />
            </dd>
          </div>
        )}
        {detail.rounds.current === null ? null : (
          <div>
            <dt>Rounds</dt>
            <dd>{roundWords(detail.rounds)}</dd>
          </div>
        )}
        <div>
          <dt>Attempt</dt>
          <dd>{detail.attempt}</dd>
        </div>
        {detail.kind === "distributed" ? <RankFacts jobId={job.jobId} /> : null}
        <div>
          <dt>Class</dt>
          <dd>
            {detail.jobClass}
            {detail.isPreemptible ? null : ", makes way for nobody"}
          </dd>
        </div>
        {well === null ? null : (
          <div>
            <dt>Sites that ended well</dt>
            <dd>{well}</dd>
          </div>
        )}
        {detail.model === null ? null : (
          <div>
            <dt>Model</dt>
            <dd>
              <Link href={`/jobs/${job.jobId}/files`}>{modelWords(detail.model)}</Link>
            </dd>
          </div>
        )}
        <OrderFacts jobId={job.jobId} state={detail.state} />
        {job.madeWay?.expectedStart == null ? null : (
          <div>
            <dt>Expected back</dt>
            <dd>
              <At at={job.madeWay.expectedStart} />
            </dd>
          </div>
        )}
        {detail.deadline === null ? null : (
          <div>
            <dt>Ends by itself</dt>
            <dd>
              <At at={detail.deadline} />
            </dd>
          </div>
        )}
      </dl>
      {detail.error === null ? null : (
        <div role="alert" className={styles["error"]}>
          <p>
            <strong>{errorMessage(detail.error.message)}</strong>
          </p>
          <p>
            <Words text={errorHint(detail.error.hint)} />
          </p>
          <p>
            <code>{detail.error.code}</code>
            {detail.error.member === null ? "" : ` at ${detail.error.member}`} ·{" "}
            <Link href={`/jobs/${job.jobId}/logs${siteOf(detail.error.member)}`}>
              Read the logs
            </Link>
            {detail.error.code === "out_of_memory" ? (
              <>
                {" "}
                · <Link href={`/jobs/${job.jobId}/use`}>See how its memory grew</Link>
              </>
            ) : null}
          </p>
          {detail.error.detail === null ? null : <pre tabIndex={0}>{detail.error.detail}</pre>}
        </div>
      )}
      {job.warnings.length === 0 ? null : (
        <Warning>
          <ul>
            {job.warnings.map((warning) => (
              <li key={warning}>{errorMessage(warning)}</li>
            ))}
          </ul>
        </Warning>
      )}
      <ul className={styles["members"]} aria-label="Members">
        {job.workers.map((member) => (
          <li key={member.id} className={styles["member"]}>
            <strong>{member.site ?? member.role}</strong> <State of={memberWord(member.state)} />
            <span className={styles["small"]}>
              {member.node}
              {member.model === null ? "" : ` · ${workersOf(member)}`}
              {!MOVES.includes(member.state) || member.progress === null
                ? ""
                : ` · ${progressOf(member.progress)}`}
              {(member.cachedBytes ?? 0) === 0
                ? ""
                : ` · had ${bytes(member.cachedBytes ?? 0)} of its inputs from the node`}
              {endOf(member) === null ? "" : ` · ${endOf(member)}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What it holds, by name where it holds several. */
function workersOf({ model, workerIds }: Job["workers"][number]): string {
  return workerIds.length > 1
    ? `${workerIds.length} × ${model} (${workerIds.join(", ")})`
    : (model ?? "");
}

/** Members that fetch or store; of another state what was fetched last is past. */
const MOVES: readonly Job["workers"][number]["state"][] = ["STARTING", "DRAINING"];

/** The log of whoever the job failed at. */
function siteOf(member: string | null): string {
  return member === null ? "" : `#${encodeURIComponent(member)}`;
}

function progressOf({ step, done, total }: { step: string; done: number; total: number | null }) {
  return total === null || total === 0 ? step : `${step} ${Math.round((100 * done) / total)} %`;
}

function Cancel({ job }: { job: Job }) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const cancel = async () => {
    setBusy(true);
    setError(null);
    try {
      await ask("POST", "/api/tasks/{id}/cancel", { params: { id: job.jobId } });
      setAsked(false);
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button look="danger" onPress={() => setAsked(true)}>
        Cancel the job
      </Button>
      <Question
        title={`Cancel ${job.jobName}?`}
        act="Cancel the job"
        isOpen={isAsked}
        isBusy={isBusy}
        onAct={() => void cancel()}
        onClose={() => setAsked(false)}
      >
        <p>
          All its members stop. Logs stay, and so does the model of the last round that was stored.
        </p>
        <p>A cancelled job does not go on. Submit it again to start anew.</p>
        {error === null ? null : <Failure error={error} />}
      </Question>
    </>
  );
}
