import { placeOf, runsOneScript } from "@resontech/contracts/changed-files";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import { useState } from "react";
import { Problem } from "../../api/problem.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { ChooseFiles } from "./choose-files.tsx";
import {
  type AddedFile,
  type FileChange,
  type FileChanges,
  faultOfChanges,
  placeOfNew,
} from "./file-changes.ts";
import { MOST_EDITED_BYTES, readJobText } from "./read-job-text.ts";
import { TextEditor } from "./text-editor.tsx";
import styles from "./submit.module.css";

type Input = JobParametersReply["inputs"][number];
type FileRow = { id: string; input: Input } | { id: string; added: AddedFile };

/** The files of the earlier job: each stays as it was until somebody changes it. Others may come. */
export function VariantFiles({
  job,
  before,
  changes,
  onChange,
}: {
  job: string;
  before: JobParametersReply;
  changes: FileChanges;
  onChange: (changes: FileChanges) => void;
}) {
  const { inputs, projectId: project } = before;
  /** Of a row whose text is open. */
  const [open, setOpen] = useState<string | null>(null);
  const fault = faultOfChanges(before, changes);
  const set = (key: string, change: FileChange | null) => {
    const of = new Map(changes.of);
    if (change === null) of.delete(key);
    else of.set(key, change);
    onChange({ ...changes, of });
    if (change?.kind !== "edited" && open === key) setOpen(null);
  };
  const add = (files: readonly (File | string)[]) => {
    const added = files.map((content) => ({
      ...{ id: crypto.randomUUID(), content },
      path: placeOfNew(before, typeof content === "string" ? "new.py" : content.name),
    }));
    onChange({ ...changes, added: [...changes.added, ...added] });
    const [first] = added;
    if (typeof first?.content === "string") setOpen(first.id);
  };
  const setAdded = (id: string, change: Partial<AddedFile>) =>
    onChange({
      ...changes,
      added: changes.added.map((one) => (one.id === id ? { ...one, ...change } : one)),
    });
  const leaveOut = (id: string) => {
    onChange({ ...changes, added: changes.added.filter((one) => one.id !== id) });
    if (open === id) setOpen(null);
  };
  const edit = useAction(async ({ key, versionId }: Input) => {
    if (!changes.of.has(key)) {
      const text = await readJobText({ ...{ job, project, key, versionId } });
      set(key, { kind: "edited", before: text, text });
    }
    setOpen(key);
  });
  const columns: Column<FileRow>[] = [
    {
      title: "File",
      of: (row) =>
        "added" in row ? (
          <div className={styles["file"]}>
            <input
              aria-label={`Path of ${nameOf(row.added.path)}`}
              className={styles["path"]}
              required
              spellCheck={false}
              value={row.added.path}
              onChange={({ target }) => setAdded(row.id, { path: target.value })}
            />
            <span className={styles["changed"]}>{contentWords(row.added)}</span>
          </div>
        ) : (
          <div className={styles["file"]}>
            <code>{placeOf(row.input)}</code>
            <span className={changes.of.has(row.id) ? styles["changed"] : styles["small"]}>
              {bytes(row.input.sizeBytes)}, {changeWords(changes.of.get(row.id))}
            </span>
          </div>
        ),
      by: (row) => ("added" in row ? row.added.path : placeOf(row.input)),
    },
    {
      title: "Change",
      of: (row) => {
        if ("added" in row)
          return (
            <div className={styles["actions"]}>
              {typeof row.added.content !== "string" || open === row.id ? null : (
                <Button aria-label={`Edit ${row.added.path}`} onPress={() => setOpen(row.id)}>
                  Edit
                </Button>
              )}
              <Button
                look="quiet"
                aria-label={`Leave out ${row.added.path}`}
                onPress={() => leaveOut(row.id)}
              >
                Undo
              </Button>
            </div>
          );
        const { input } = row;
        const name = placeOf(input);
        const change = changes.of.get(input.key);
        const isScript = runsOneScript(before.kind) && input.kind === "script";
        return (
          <div className={styles["actions"]}>
            {input.sizeBytes > MOST_EDITED_BYTES || input.kind === "shard" ? null : (
              <Button
                aria-label={`Edit ${name}`}
                isDisabled={
                  edit.isBusy || change?.kind === "replaced" || change?.kind === "removed"
                }
                onPress={() => edit.run(input)}
              >
                Edit
              </Button>
            )}
            <ChooseFiles
              label={`Replace ${name}`}
              onFiles={([file]) => {
                if (file !== undefined) set(input.key, { kind: "replaced", file });
              }}
            >
              Replace …
            </ChooseFiles>
            {isScript ? null : (
              <Button
                aria-label={`Remove ${name}`}
                isDisabled={change?.kind === "removed"}
                onPress={() => set(input.key, { kind: "removed" })}
              >
                Remove
              </Button>
            )}
            {change === undefined ? null : (
              <Button
                look="quiet"
                aria-label={`Leave ${name} as it was`}
                onPress={() => set(input.key, null)}
              >
                Undo
              </Button>
            )}
          </div>
        );
      },
    },
  ];
  const rows: FileRow[] = [
    ...inputs.map((input) => ({ id: input.key, input })),
    ...changes.added.map((added) => ({ id: added.id, added })),
  ];
  return (
    <Panel title="Files">
      <p>Unchanged files are read as the earlier job read them, whatever its folder holds now.</p>
      {edit.error === null ? null : <Failure error={edit.error} />}
      <Table
        caption="Files of the new job"
        columns={columns}
        rows={rows}
        keyOf={(row) => ("added" in row ? row.id : `${row.input.kind} ${row.id}`)}
      />
      <Row>
        <ChooseFiles label="Add files" isMany onFiles={add}>
          Add files …
        </ChooseFiles>
        <Button onPress={() => add([""])}>Write a new file</Button>
      </Row>
      {fault === null ? null : <Failure error={asProblemOfFiles(fault, before.kind)} />}
      <OpenText open={open} changes={changes} onText={setText} onClose={() => setOpen(null)} />
    </Panel>
  );

  function setText(id: string, text: string): void {
    const change = changes.of.get(id);
    if (change?.kind === "edited") set(id, { ...change, text });
    else setAdded(id, { content: text });
  }
}

function OpenText({
  open,
  changes,
  onText,
  onClose,
}: {
  open: string | null;
  changes: FileChanges;
  onText: (id: string, text: string) => void;
  onClose: () => void;
}) {
  if (open === null) return null;
  const added = changes.added.find(({ id }) => id === open);
  const change = changes.of.get(open);
  const text = change?.kind === "edited" ? change.text : added?.content;
  if (typeof text !== "string") return null;
  const name = nameOf(added?.path ?? open);
  return (
    <>
      <Row>
        <strong>{name}</strong>
        <Button onPress={onClose}>Close the editor</Button>
      </Row>
      <TextEditor
        key={open}
        label={`Text of ${name}`}
        text={text}
        onChange={(now) => onText(open, now)}
      />
    </>
  );
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

function changeWords(change: FileChange | undefined): string {
  if (change === undefined) return "as the job read it";
  if (change.kind === "removed") return "removed";
  if (change.kind === "replaced")
    return `replaced by ${change.file.name}, ${bytes(change.file.size)}`;
  return change.text === change.before ? "as the job read it" : "edited";
}

function contentWords({ content }: AddedFile): string {
  return typeof content === "string"
    ? "new, written here"
    : `new, ${content.name}, ${bytes(content.size)}`;
}

function asProblemOfFiles({ code, message }: { code: string; message: string }, kind: string) {
  const hint =
    code === "input_name_invalid"
      ? "Parts of a path have at most 255 bytes, and none is empty, `.` or `..`."
      : code === "file_named_twice"
        ? "Replace the file that is there, or give this one another path."
        : runsOneScript(kind)
          ? "Files that a script reads lie below `payload/FOLDER/`."
          : "Files lie below `scripts/`, `configs/` or `requirements/`, a model straight in `model/`, zips straight in `shards/`.";
  return new Problem({ code, message, hint, status: 0, requestId: null });
}
