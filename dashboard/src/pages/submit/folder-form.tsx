import { bodyOfFolder, missingFolders, slugOf } from "@resontech/contracts/ready-folder";
import { type DetailedHTMLProps, type DragEvent, type InputHTMLAttributes, useState } from "react";
import { useLocation } from "wouter";
import { askAgain } from "../../api/ask.ts";
import { countOf } from "../../ui/count-of.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";
import { type ChosenFile, chosenFiles } from "./chosen-files.ts";
import { CodeBeside } from "./code-beside.tsx";
import { DeviceField } from "./device-field.tsx";
import { droppedFolder } from "./dropped-folder.ts";
import { ProjectField } from "./project-field.tsx";
import { folderInCode } from "./same-in-code.ts";
import styles from "./submit.module.css";

/** Of one folder with all that is in it; every browser has the attribute, and no standard. */
const FOLDER = { webkitdirectory: "" } as DetailedHTMLProps<
  InputHTMLAttributes<HTMLInputElement>,
  HTMLInputElement
>;

/** A federated job of a folder on the person's disk. */
export function FolderForm({
  project,
  onProject,
}: {
  project: string;
  onProject: (project: string) => void;
}) {
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [folder, setFolder] = useState("");
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [model, setModel] = useState("");
  const [price, setPrice] = useState("");
  const [minutes, setMinutes] = useState("");
  const [isOver, setOver] = useState(false);
  /** By path: what is stored already is not sent again after a failure. */
  const [stored, setStored] = useState<ReadonlySet<string>>(new Set());
  const [sent, setSent] = useState<number | null>(null);
  const folders = [...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))];
  const missing = missingFolders(folders);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const choose = ({ name: chosen, files: found }: { name: string; files: ChosenFile[] }) => {
    setFiles(found);
    setFolder(chosen);
    setStored(new Set());
    if (name === "" || name === folder) setName(chosen);
  };
  const drop = useAction(async (items: DataTransferItemList) => {
    const found = await droppedFolder(items);
    if (found !== null) choose(found);
  });
  const submit = useAction(async () => {
    const slug = slugOf(name);
    const done = new Set(stored);
    setSent(0);
    try {
      for (const { path, file } of files) {
        const key = `jobs/${slug}/${path}`;
        const said = (count: number) => setSent((before) => (before ?? 0) + count);
        if (done.has(key)) said(file.size);
        else await upload(key, file, project, said);
        done.add(key);
        setStored(new Set(done));
      }
      const number = (text: string) => (text === "" ? undefined : Number(text));
      const body = bodyOfFolder(name, folders, {
        gpuModels: model === "" ? undefined : model.split(","),
        maxPriceCents: number(price),
        minutes: number(minutes),
      });
      const idempotencyKey = crypto.randomUUID();
      const job = await askAgain("POST", "/api/tasks", {
        ...{ body, project, idempotencyKey },
      });
      go(`/jobs/${job.id}`);
    } finally {
      setSent(null);
    }
  });
  const dragged = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      drop.run(event.dataTransfer.items);
    },
  };
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title="The job">
          <p>
            A folder with <code>shards/</code>, <code>scripts/</code>, <code>configs/</code> and{" "}
            <code>requirements/</code>, and perhaps <code>model/</code>. Each shard goes to a site
            of its own.
          </p>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              submit.run();
            }}
          >
            <div className={styles["drop"]} data-over={isOver || undefined} {...dragged}>
              <Field label="Folder" hint="Or drag it here.">
                <input
                  type="file"
                  required={files.length === 0}
                  {...FOLDER}
                  onChange={({ target }) => choose(chosenFiles([...(target.files ?? [])]))}
                />
              </Field>
              {files.length === 0 ? null : missing.length > 0 ? (
                <Warning>The folder lacks {missing.map((one) => `${one}/`).join(", ")}.</Warning>
              ) : (
                <p>
                  {folder}: {countOf(files.length, "file")}, {bytes(total)},{" "}
                  {countOf(files.filter(({ path }) => path.startsWith("shards/")).length, "shard")}
                </p>
              )}
            </div>
            <Field label="Name">
              <input
                required
                maxLength={200}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </Field>
            <ProjectField project={project} onChange={onProject} />
            <DeviceField models={model} onChange={setModel} />
            <Field label="Highest price (cents per device and hour)" hint="Empty: any price.">
              <input
                type="number"
                min={0}
                value={price}
                onChange={({ target }) => setPrice(target.value)}
              />
            </Field>
            <Field label="Time limit (minutes)" hint="Empty: no limit of its own.">
              <input
                type="number"
                min={1}
                value={minutes}
                onChange={({ target }) => setMinutes(target.value)}
              />
            </Field>
            <div>
              <Button
                look="main"
                type="submit"
                isDisabled={submit.isBusy || files.length === 0 || missing.length > 0}
              >
                Upload and submit
              </Button>
            </div>
          </form>
        </Panel>
        {sent === null ? null : (
          <p role="status">
            <progress max={Math.max(1, total)} value={sent} aria-label="Uploaded" /> {bytes(sent)}{" "}
            of {bytes(total)}
          </p>
        )}
        {submit.error === null ? null : (
          <Panel title="The job was not submitted">
            <Failure error={submit.error} />
            {stored.size === 0 ? null : (
              <p>
                {countOf(stored.size, "file is", "files are")} stored, and not sent again with the
                next try.
              </p>
            )}
          </Panel>
        )}
      </div>
      <CodeBeside
        code={folderInCode(folder, { name, models: model, price, minutes })}
        about="Python makes scripts and configs of a model of yours; the shell takes the folder as it is."
      />
    </div>
  );
}
