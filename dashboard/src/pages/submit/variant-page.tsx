import { bodyOfFiles, placeOf, runsOneScript } from "@resontech/contracts/changed-files";
import { slugOf } from "@resontech/contracts/ready-folder";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { ask, askAgain } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CodeBeside } from "./code-beside.tsx";
import { DeviceField } from "./device-field.tsx";
import {
  ArgumentsField,
  ClassField,
  EnvironmentField,
  MakesWayField,
  MemoryField,
  MinutesField,
  NameField,
  PriceField,
} from "./job-fields.tsx";
import { lineDiff } from "./line-diff.ts";
import { PoolField } from "./pool-field.tsx";
import { variantInCode } from "./same-in-code.ts";
import { SubmissionState } from "./submission-state.tsx";
import { useSubmission } from "./use-submission.ts";
import {
  type AddedFile,
  changedInputs,
  type FileChange,
  type FileChanges,
  faultOfChanges,
  filesToStore,
  NO_CHANGES,
  removedInputs,
} from "./file-changes.ts";
import { bodyOfDraft, draftOf, fieldChanges, type VariantDraft } from "./variant-draft.ts";
import { VariantFiles } from "./variant-files.tsx";
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
  const [files, setFiles] = useState<FileChanges>(NO_CHANGES);
  const set = (change: Partial<VariantDraft>) => setDraft((now) => ({ ...now, ...change }));
  const { inputs } = before;
  const changed = changedInputs(inputs, files);
  const toStore = filesToStore(inputs, files, slugOf(draft.name));
  const body = bodyOfDraft(draft, before);
  const changes = fieldChanges(draft, before);
  const submission = useSubmission(
    before.projectId,
    () => toStore.map(({ file: { key }, content }) => ({ key, content })),
    async (versionIds, idempotencyKey) => {
      const stored = toStore.map(({ file }, at) => ({ ...file, versionId: versionIds[at]! }));
      const asked = { ...body, ...bodyOfFiles(stored, removedInputs(inputs, files)) };
      const made = await askAgain("POST", "/api/tasks/{id}/variants", {
        ...{ params: { id: job }, body: asked },
        ...{ project: before.projectId, idempotencyKey: idempotencyKey(asked) },
      });
      go(`/jobs/${made.id}`);
    },
  );
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title="The job">
          <form
            id="variant"
            onSubmit={(event) => {
              event.preventDefault();
              submission.run();
            }}
          >
            <NameField
              hint="With a name of its own the new job has a folder of its own, and both may run at once."
              value={draft.name}
              onChange={(name) => set({ name })}
            />
            <DeviceField
              models={draft.models}
              onChange={(models) => set({ models })}
              {...(before.workerIds === null
                ? {}
                : {
                    hint: `The job had workers of its own: ${before.workerIds.join(", ")}. A device takes their place.`,
                  })}
            />
            <PoolField
              project={before.projectId}
              pool={draft.pool}
              onChange={(pool) => set({ pool })}
            />
            <MinutesField value={draft.minutes} onChange={(minutes) => set({ minutes })} />
            <ClassField value={draft.class} onChange={(wish) => set({ class: wish })} />
            <MakesWayField value={draft.makesWay} onChange={(makesWay) => set({ makesWay })} />
            <PriceField value={draft.price} onChange={(price) => set({ price })} />
            <MemoryField
              models={draft.models}
              value={draft.memory}
              onChange={(memory) => set({ memory })}
            />
            {!runsOneScript(before.kind) ? null : (
              <>
                <ArgumentsField
                  value={draft.arguments}
                  onChange={(given) => set({ arguments: given })}
                />
                <EnvironmentField
                  value={draft.environment}
                  onChange={(environment) => set({ environment })}
                />
              </>
            )}
          </form>
        </Panel>
        <VariantFiles job={job} before={before} changes={files} onChange={setFiles} />
      </div>
      <div className={styles["stack"]}>
        <Panel title="What differs">
          {changes.length + changed.length + files.added.length === 0 ? (
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
            <ChangedFile key={input.key} name={placeOf(input)} change={change} />
          ))}
          {files.added.map((added) => (
            <NewFile key={added.id} added={added} />
          ))}
          <div>
            <Button
              look="main"
              type="submit"
              form="variant"
              isDisabled={submission.isBusy || faultOfChanges(before, files) !== null}
            >
              Submit
            </Button>
          </div>
          <SubmissionState submission={submission} failed="The job was not submitted" />
        </Panel>
        <CodeBeside
          code={variantInCode(
            job,
            body,
            bodyOfFiles(
              toStore.map(({ file }) => file),
              removedInputs(inputs, files),
            ),
            inputs,
          )}
        />
      </div>
    </div>
  );
}

function ChangedFile({ name, change }: { name: string; change: FileChange }) {
  if (change.kind === "removed")
    return (
      <p>
        <code>{name}</code> is removed.
      </p>
    );
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
      <Difference name={name} before={change.before} text={change.text} />
    </>
  );
}

function NewFile({ added: { path, content } }: { added: AddedFile }) {
  if (typeof content !== "string")
    return (
      <p>
        <code>{path}</code> is new, {bytes(content.size)}.
      </p>
    );
  return (
    <>
      <p>
        <code>{path}</code> is new.
      </p>
      {content === "" ? null : <Difference name={path} before={null} text={content} />}
    </>
  );
}

function Difference({ name, before, text }: { name: string; before: string | null; text: string }) {
  const lines =
    before === null
      ? text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => ({ sign: "+", text: line }))
      : lineDiff(before, text);
  return (
    <pre className={styles["diff"]} tabIndex={0} aria-label={`Changes of ${name}`}>
      {lines.map(({ sign, text: line }, at) => (
        // Lines of a difference have no other name than their place.
        // oxlint-disable-next-line react/no-array-index-key
        <span
          key={at}
          className={sign === "-" ? styles["gone"] : sign === "+" ? styles["came"] : undefined}
        >
          {sign} {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
