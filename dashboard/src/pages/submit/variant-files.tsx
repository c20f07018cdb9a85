import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { useId, useRef, useState } from "react";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { MOST_EDITED_BYTES, readJobText } from "./read-job-text.ts";
import { TextEditor } from "./text-editor.tsx";
import styles from "./submit.module.css";

type Input = JobParametersReply["inputs"][number];
export type FileChange =
  | { kind: "edited"; before: string; text: string }
  | { kind: "replaced"; file: File };
/** By key of the input. */
export type FileChanges = ReadonlyMap<string, FileChange>;

/** The files of the earlier job: each stays as it was until somebody edits or replaces it. */
export function VariantFiles({
  job,
  project,
  inputs,
  changes,
  onChange,
}: {
  job: string;
  project: string;
  inputs: readonly Input[];
  changes: FileChanges;
  onChange: (changes: FileChanges) => void;
}) {
  const [open, setOpen] = useState<string | null>(null);
  const set = (key: string, change: FileChange | null) => {
    const next = new Map(changes);
    if (change === null) next.delete(key);
    else next.set(key, change);
    onChange(next);
  };
  const edit = useAction(async ({ key, versionId }: Input) => {
    if (!changes.has(key)) {
      const text = await readJobText({ ...{ job, project, key, versionId } });
      set(key, { kind: "edited", before: text, text });
    }
    setOpen(key);
  });
  const opened = open === null ? undefined : changes.get(open);
  const columns: Column<Input>[] = [
    {
      title: "File",
      of: ({ key, kind, sizeBytes }) => (
        <div className={styles["file"]}>
          <code>{inputName(key, kind)}</code>
          <span className={changes.has(key) ? styles["changed"] : styles["small"]}>
            {bytes(sizeBytes)}, {stateOf(changes.get(key))}
          </span>
        </div>
      ),
      by: ({ key, kind }) => inputName(key, kind),
    },
    {
      title: "Change",
      of: (input) => (
        <div className={styles["actions"]}>
          {input.sizeBytes > MOST_EDITED_BYTES || input.kind === "shard" ? null : (
            <Button
              aria-label={`Edit ${inputName(input.key, input.kind)}`}
              isDisabled={edit.isBusy || changes.get(input.key)?.kind === "replaced"}
              onPress={() => edit.run(input)}
            >
              Edit
            </Button>
          )}
          <Replace
            name={inputName(input.key, input.kind)}
            onFile={(file) => {
              set(input.key, { kind: "replaced", file });
              if (open === input.key) setOpen(null);
            }}
          />
          {changes.has(input.key) ? (
            <Button
              look="quiet"
              aria-label={`Leave ${inputName(input.key, input.kind)} as it was`}
              onPress={() => {
                set(input.key, null);
                if (open === input.key) setOpen(null);
              }}
            >
              Undo
            </Button>
          ) : null}
        </div>
      ),
    },
  ];
  return (
    <Panel title="Files">
      <p>Unchanged files are read as the earlier job read them, whatever its folder holds now.</p>
      {edit.error === null ? null : <Failure error={edit.error} />}
      <Table
        caption="Files of the new job"
        columns={columns}
        rows={inputs}
        keyOf={({ kind, key }) => `${kind} ${key}`}
      />
      {open === null || opened?.kind !== "edited" ? null : (
        <>
          <Row>
            <strong>{open.slice(open.lastIndexOf("/") + 1)}</strong>
            <Button onPress={() => setOpen(null)}>Close the editor</Button>
          </Row>
          <TextEditor
            key={open}
            label={`Text of ${open.slice(open.lastIndexOf("/") + 1)}`}
            text={opened.text}
            onChange={(text) => set(open, { ...opened, text })}
          />
        </>
      )}
    </Panel>
  );
}

/** A button that opens the browser's own choice of a file. */
function Replace({ name, onFile }: { name: string; onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  return (
    <>
      <Button aria-label={`Replace ${name}`} onPress={() => input.current?.click()}>
        Replace …
      </Button>
      <input
        ref={input}
        id={id}
        type="file"
        hidden
        aria-label={`File in place of ${name}`}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) onFile(file);
          target.value = "";
        }}
      />
    </>
  );
}

/** Its path below the job's folder, as a person knows it. */
export function inputName(key: string, kind: string): string {
  const parts = key.split("/");
  return kind === "shard" || parts.length < 3
    ? parts.slice(-2).join("/")
    : parts.slice(2).join("/");
}

function stateOf(change: FileChange | undefined): string {
  if (change === undefined) return "as the job read it";
  if (change.kind === "replaced")
    return `replaced by ${change.file.name}, ${bytes(change.file.size)}`;
  return change.text === change.before ? "as the job read it" : "edited";
}
