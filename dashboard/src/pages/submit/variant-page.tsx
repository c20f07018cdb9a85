import { slugOf } from "@resontech/contracts/ready-folder";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { ask, askAgain } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";
import { CodeBeside } from "./code-beside.tsx";
import { DeviceField } from "./device-field.tsx";
import { lineDiff } from "./line-diff.ts";
import { variantInCode } from "./same-in-code.ts";
import {
  bodyOfDraft,
  draftOf,
  fieldChanges,
  keyOfChange,
  type VariantDraft,
} from "./variant-draft.ts";
import { type FileChange, type FileChanges, inputName, VariantFiles } from "./variant-files.tsx";
import styles from "./submit.module.css";

/** An earlier job once more, with what is changed here. */
export function VariantPage({ job }: { job: string }) {
  const parameters = useQuery({
    queryKey: ["job", job, "parameters"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs/{id}/parameters", { params: { id: job }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const name = parameters.data?.name ?? job;
  return (
    <>
      <PageHead
        title={`Submit ${name} again`}
        about="Submit again"
        above={
          <>
            <Link href="/jobs">Jobs</Link> / <Link href={`/jobs/${job}`}>{name}</Link>
          </>
        }
      >
        All is filled in as the job had it. Change what you like: what differs is shown below.
      </PageHead>
      {parameters.isPending ? <Skeleton /> : null}
      {parameters.isError ? (
        <Failure error={parameters.error} retry={() => void parameters.refetch()} />
      ) : null}
      {parameters.data === undefined ? null : <VariantForm job={job} before={parameters.data} />}
    </>
  );
}

function VariantForm({ job, before }: { job: string; before: JobParametersReply }) {
  const [, go] = useLocation();
  const [draft, setDraft] = useState<VariantDraft>(() => draftOf(before));
  const [files, setFiles] = useState<FileChanges>(new Map());
  const [sent, setSent] = useState<{ bytes: number; of: number } | null>(null);
  /** Of one that was refused before, the second is another. */
  const idempotencyKey = useRef<{ of: string; key: string }>({ of: "", key: "" });
  const set = (change: Partial<VariantDraft>) => setDraft((now) => ({ ...now, ...change }));
  const changed = before.inputs.flatMap((input) => {
    const change = files.get(input.key);
    return change === undefined || (change.kind === "edited" && change.text === change.before)
      ? []
      : [{ input, change, key: keyOfChange(slugOf(draft.name), input) }];
  });
  const body = bodyOfDraft(draft, before);
  const changes = fieldChanges(draft, before);
  const submit = useAction(async () => {
    const blobs = changed.map(({ input, change, key }) => ({ input, key, blob: blobOf(change) }));
    const of = blobs.reduce((sum, { blob }) => sum + blob.size, 0);
    const stored: { input: string; key: string; versionId: string }[] = [];
    try {
      for (const { input, key, blob } of blobs) {
        const versionId = await upload(key, blob, before.projectId, (count) =>
          setSent((now) => ({ bytes: (now?.bytes ?? 0) + count, of })),
        );
        stored.push({ input: input.key, key, versionId });
      }
    } finally {
      setSent(null);
    }
    const asked = { ...body, ...(stored.length === 0 ? {} : { files: stored }) };
    const text = JSON.stringify(asked);
    if (idempotencyKey.current.of !== text)
      idempotencyKey.current = { of: text, key: crypto.randomUUID() };
    const made = await askAgain("POST", "/api/tasks/{id}/variants", {
      params: { id: job },
      body: asked,
      ...{ project: before.projectId, idempotencyKey: idempotencyKey.current.key },
    });
    go(`/jobs/${made.id}`);
  });
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title="The job">
          <form
            id="variant"
            onSubmit={(event) => {
              event.preventDefault();
              submit.run();
            }}
          >
            <Field
              label="Name"
              hint="With a name of its own the new job has a folder of its own, and both may run at once."
            >
              <input
                required
                maxLength={200}
                value={draft.name}
                onChange={({ target }) => set({ name: target.value })}
              />
            </Field>
            <DeviceField
              models={draft.models}
              onChange={(models) => set({ models })}
              {...(before.workerIds === null
                ? {}
                : {
                    hint: `The job had workers of its own: ${before.workerIds.join(", ")}. A device takes their place.`,
                  })}
            />
            <Field label="Time limit (minutes)" hint="Empty: no limit of its own.">
              <input
                type="number"
                min={1}
                value={draft.minutes}
                onChange={({ target }) => set({ minutes: target.value })}
              />
            </Field>
            <Field label="Highest price (cents per device and hour)" hint="Empty: any price.">
              <input
                type="number"
                min={0}
                value={draft.price}
                onChange={({ target }) => set({ price: target.value })}
              />
            </Field>
            <Field label="Memory asked for (MiB)" hint="Empty: nothing is asked for.">
              <input
                type="number"
                min={1}
                value={draft.memory}
                onChange={({ target }) => set({ memory: target.value })}
              />
            </Field>
            {before.kind !== "command" ? null : (
              <>
                <Field label="Arguments" hint="One a line.">
                  <textarea
                    rows={3}
                    value={draft.arguments}
                    onChange={({ target }) => set({ arguments: target.value })}
                  />
                </Field>
                <Field label="Environment" hint="NAME=value, one a line.">
                  <textarea
                    rows={3}
                    value={draft.environment}
                    onChange={({ target }) => set({ environment: target.value })}
                  />
                </Field>
              </>
            )}
          </form>
        </Panel>
        <VariantFiles
          job={job}
          project={before.projectId}
          inputs={before.inputs}
          changes={files}
          onChange={setFiles}
        />
      </div>
      <div className={styles["stack"]}>
        <Panel title="What differs">
          {changes.length === 0 && changed.length === 0 ? (
            <p>Nothing yet: the new job would be the same, in the same folder.</p>
          ) : null}
          {changes.length === 0 ? null : (
            <Facts
              facts={changes.map(({ what, before: was, after }) => [
                what,
                <>
                  <del>{was}</del> → <ins>{after}</ins>
                </>,
              ])}
            />
          )}
          {changed.map(({ input, change }) => (
            <ChangedFile key={input.key} name={inputName(input.key, input.kind)} change={change} />
          ))}
          <div>
            <Button look="main" type="submit" form="variant" isDisabled={submit.isBusy}>
              Submit
            </Button>
          </div>
          {sent === null ? null : (
            <p role="status">
              <progress max={Math.max(1, sent.of)} value={sent.bytes} aria-label="Uploaded" />{" "}
              {bytes(sent.bytes)} of {bytes(sent.of)}
            </p>
          )}
          {submit.error === null ? null : <Failure error={submit.error} />}
        </Panel>
        <CodeBeside
          code={variantInCode(
            job,
            body,
            changed.map(({ input, key }) => ({
              path: inputName(input.key, input.kind),
              input: input.key,
              key,
            })),
          )}
        />
      </div>
    </div>
  );
}

function blobOf(change: FileChange): Blob {
  return change.kind === "replaced" ? change.file : new Blob([change.text]);
}

function ChangedFile({ name, change }: { name: string; change: FileChange }) {
  if (change.kind === "replaced")
    return (
      <p>
        <code>{name}</code> is replaced by <code>{change.file.name}</code>,{" "}
        {bytes(change.file.size)}.
      </p>
    );
  return (
    <>
      <p>
        <code>{name}</code>
      </p>
      <pre className={styles["diff"]} tabIndex={0} aria-label={`Changes of ${name}`}>
        {lineDiff(change.before, change.text).map(({ sign, text }, at) => (
          // Lines of a difference have no other name than their place.
          // oxlint-disable-next-line react/no-array-index-key
          <span
            key={at}
            className={sign === "-" ? styles["gone"] : sign === "+" ? styles["came"] : undefined}
          >
            {sign} {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </>
  );
}
