import { MAX_EXPORTED_FILES } from "@resontech/contracts/http-approvals";
import type { TaskOutputsReply } from "@resontech/contracts/http-tasks";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../../api/ask.ts";
import { useMay } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/panel.tsx";
import { useAction } from "../../../ui/use-action.ts";
import { useKept } from "../../../ui/use-kept.ts";
import styles from "../job-page.module.css";

/** Asks for a release. Where outputs leave by approval alone, whoever asks reads these versions for a day after somebody approved. */
export function RequestExport({ jobId, outputs }: { jobId: string; outputs: TaskOutputsReply }) {
  const [draft, setDraft] = useKept<{ keys: string[] | null; reason: string }>(
    `rt-export-${jobId}`,
    {
      keys: null,
      reason: "",
    },
  );
  const [isDone, setDone] = useState(false);
  const may = useMay("export.request");
  const chosen = draft.keys ?? outputs.map(({ key }) => key);
  const request = useAction(async () => {
    const files = outputs
      .filter(({ key }) => chosen.includes(key))
      .map(({ key, versionId, sha256 }) => ({ key, versionId, sha256 }));
    await ask("POST", "/api/approvals", {
      body: {
        what: { kind: "export", jobId, files },
        ...(draft.reason === "" ? {} : { reason: draft.reason }),
      },
    });
    setDraft({ keys: null, reason: "" });
    setDone(true);
  });
  if (!may) return null;
  return (
    <Panel title="Ask for a release">
      <p>
        Where outputs leave by approval alone, you read what you ask for within a day after somebody
        approved.
      </p>
      <form
        id="export"
        className={styles["release"]}
        onSubmit={(event) => {
          event.preventDefault();
          setDone(false);
          request.run();
        }}
      >
        <fieldset className={styles["outputs"]}>
          <legend>Outputs</legend>
          {outputs.slice(0, MAX_EXPORTED_FILES).map(({ key }) => (
            <label key={key}>
              <input
                type="checkbox"
                checked={chosen.includes(key)}
                onChange={({ target }) =>
                  setDraft({
                    ...draft,
                    keys: target.checked ? [...chosen, key] : chosen.filter((one) => one !== key),
                  })
                }
              />{" "}
              {key}
            </label>
          ))}
        </fieldset>
        <Field label="Reason" hint="Whoever answers reads it.">
          <input
            maxLength={500}
            autoComplete="off"
            value={draft.reason}
            onChange={({ target }) => setDraft({ ...draft, reason: target.value })}
          />
        </Field>
        <div>
          <Button type="submit" isDisabled={request.isBusy || chosen.length === 0}>
            Ask
          </Button>
        </div>
      </form>
      {request.error === null ? null : <Failure error={request.error} />}
      {isDone ? (
        <p role="status">
          You have asked. A security officer or data steward must approve it within 72 hours.{" "}
          <Link href="/approvals">Requests</Link>
        </p>
      ) : null}
    </Panel>
  );
}
