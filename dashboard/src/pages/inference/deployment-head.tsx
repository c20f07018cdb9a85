import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { isTerminal } from "@resontech/contracts/job-states";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Bell } from "../../ui/bell.tsx";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Ago } from "../../ui/instant.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Question } from "../../ui/question.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { State } from "../../ui/state.tsx";
import { deploymentWord, memberWord } from "../../ui/state-word.ts";
import { useAction } from "../../ui/use-action.ts";
import { Words } from "../../ui/words.tsx";
import { errorHint, errorMessage } from "../job/error-hint.ts";
import styles from "../job/job-page.module.css";
import { deploymentSentence } from "./deployment-sentence.ts";

/** What the deployment is, where it is called, and what one can do about it. */
export function DeploymentHead({
  deployment,
  onChange,
}: {
  deployment: DeploymentReply;
  onChange: () => void;
}) {
  const { id, name, detail, endpoint, replicas, visibility, warnings, createdAt } = deployment;
  const isLiving = !isTerminal(detail.state);
  const [newKey, setNewKey] = useState<string | null>(null);
  const mayStop = useMay("job.cancel") && isLiving && detail.desired === "run";
  const mayRotate = useMay("deployment.key.rotate") && isLiving;
  return (
    <>
      <PageHead
        title={name}
        state={deploymentWord(detail.state)}
        above={
          <>
            <Link href="/inference">Inference</Link> / <code>{id}</code>
          </>
        }
        actions={
          <>
            {isLiving ? <Bell job={id} /> : null}
            {mayRotate ? <NewKey deployment={deployment} onKey={setNewKey} /> : null}
            {mayStop ? <Stop deployment={deployment} onStopped={onChange} /> : null}
          </>
        }
      >
        {deploymentSentence(deployment)}
      </PageHead>
      {newKey === null ? null : (
        <ShownOnce
          key={newKey}
          id="predict-key"
          title="The new key"
          secret={newKey}
          onDone={() => setNewKey(null)}
        />
      )}
      <dl className={styles["facts"]}>
        <div>
          <dt>Endpoint</dt>
          <dd>
            <code id="endpoint">{endpoint}</code>{" "}
            <Copy text={endpoint} from="endpoint" label="Copy the endpoint" look="quiet" />
          </dd>
        </div>
        <div>
          <dt>Who may call it</dt>
          <dd>
            {visibility === "PUBLIC"
              ? "whoever has its key, and every platform key with the scope infer"
              : "whoever has its key, and platform keys of its project with the scope infer"}
          </dd>
        </div>
        <div>
          <dt>Deployed</dt>
          <dd>
            <Ago at={createdAt} />
          </dd>
        </div>
        <div>
          <dt>In this state since</dt>
          <dd>
            <Ago at={detail.since} />
          </dd>
        </div>
      </dl>
      {detail.error === null || detail.state === "CANCELLED" ? null : (
        <div role="alert" className={styles["error"]}>
          <p>
            <strong>{errorMessage(detail.error.message)}</strong>
          </p>
          <p>
            <Words text={errorHint(detail.error.hint)} />
          </p>
          <p>
            <code>{detail.error.code}</code> ·{" "}
            <Link href={`/inference/jobs/${id}/logs`}>Read the logs</Link>
          </p>
          {detail.error.detail === null ? null : <pre tabIndex={0}>{detail.error.detail}</pre>}
        </div>
      )}
      {warnings.length === 0 ? null : (
        <Warning>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Warning>
      )}
      {replicas.length === 0 ? null : (
        <ul className={styles["members"]} aria-label="Replicas">
          {replicas.map(({ id: replica, node, model, state, isReady }) => (
            <li key={replica} className={styles["member"]}>
              <strong>{isReady ? "answers" : "does not answer"}</strong>{" "}
              <State of={memberWord(state)} />
              <span className={styles["small"]}>
                {node}
                {model === null ? "" : ` · ${model}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function NewKey({
  deployment: { id, name },
  onKey,
}: {
  deployment: DeploymentReply;
  onKey: (key: string) => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const rotate = useAction(async () => {
    const path = "/api/inference/jobs/{id}/rotate-key";
    const { apiKey } = await ask("POST", path, { params: { id } });
    setAsked(false);
    onKey(apiKey);
  });
  return (
    <>
      <Button onPress={() => setAsked(true)}>New key</Button>
      <Question
        title={`A new key for ${name}?`}
        act="Make a new key"
        isOpen={isAsked}
        isBusy={rotate.isBusy}
        onAct={() => rotate.run()}
        onClose={() => setAsked(false)}
      >
        <p>Programs that call it with the key of now are refused until they have the new one.</p>
        <p>The new key is shown once, on this page.</p>
        {rotate.error === null ? null : <Failure error={rotate.error} />}
      </Question>
    </>
  );
}

function Stop({
  deployment: { id, name },
  onStopped,
}: {
  deployment: DeploymentReply;
  onStopped: () => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const stop = useAction(async () => {
    await ask("DELETE", "/api/inference/jobs/{id}", { params: { id } });
    setAsked(false);
    onStopped();
  });
  return (
    <>
      <Button look="danger" onPress={() => setAsked(true)}>
        Stop
      </Button>
      <Question
        title={`Stop ${name}?`}
        act="Stop the deployment"
        isOpen={isAsked}
        isBusy={stop.isBusy}
        onAct={() => stop.run()}
        onClose={() => setAsked(false)}
      >
        <p>Nobody is answered any more, and its key is void. Its files and logs stay.</p>
        <p>A stopped deployment does not go on. Deploy it anew: it gets another key.</p>
        {stop.error === null ? null : <Failure error={stop.error} />}
      </Question>
    </>
  );
}
