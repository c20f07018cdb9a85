import { bodyOfFolder, missingFolders, slugOf } from "@resontech/contracts/ready-folder";
import { useQuery } from "@tanstack/react-query";
import { type DetailedHTMLProps, type InputHTMLAttributes, useState } from "react";
import { useLocation } from "wouter";
import { ask, askAgain } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { countOf } from "../../ui/count-of.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";
import { type ChosenFile, chosenFiles } from "./chosen-files.ts";

/** Of one folder with all that is in it; every browser has the attribute, and no standard. */
const FOLDER = { webkitdirectory: "" } as DetailedHTMLProps<
  InputHTMLAttributes<HTMLInputElement>,
  HTMLInputElement
>;

/** Will it be accepted? */
export function SubmitPage() {
  const { projects } = useSession();
  const [, go] = useLocation();
  const able = projects.filter(({ role }) => role === "project-lead" || role === "researcher");
  const [project, setProject] = useState(able[0]?.id ?? "");
  const [name, setName] = useState("");
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const [model, setModel] = useState("");
  const [price, setPrice] = useState("");
  const [minutes, setMinutes] = useState("");
  const [sent, setSent] = useState<number | null>(null);
  const folders = [...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))];
  const missing = missingFolders(folders);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const models = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => ask("GET", "/api/gpu-catalog", { signal }),
  });
  const submit = useAction(async () => {
    const slug = slugOf(name);
    setSent(0);
    try {
      for (const { path, file } of files)
        await upload(`jobs/${slug}/${path}`, file, project, (count) =>
          setSent((before) => (before ?? 0) + count),
        );
      const number = (text: string) => (text === "" ? undefined : Number(text));
      const body = bodyOfFolder(name, folders, {
        gpuModels: model === "" ? undefined : [model],
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
  return (
    <>
      <PageHead title="Submit a job" about="Submit">
        A federated job: a folder with <code>shards/</code>, <code>scripts/</code>,{" "}
        <code>configs/</code> and <code>requirements/</code>, and perhaps <code>model/</code>. Each
        shard goes to a site of its own.
      </PageHead>
      <Panel title="The job">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit.run();
          }}
        >
          <Field label="Folder">
            <input
              type="file"
              required
              {...FOLDER}
              onChange={({ target }) => {
                const { name: folder, files: chosen } = chosenFiles([...(target.files ?? [])]);
                setFiles(chosen);
                if (name === "") setName(folder);
              }}
            />
          </Field>
          {files.length === 0 ? null : missing.length > 0 ? (
            <Warning>The folder lacks {missing.map((one) => `${one}/`).join(", ")}.</Warning>
          ) : (
            <p>
              {countOf(files.length, "file")}, {bytes(total)},{" "}
              {countOf(files.filter(({ path }) => path.startsWith("shards/")).length, "shard")}
            </p>
          )}
          <Field label="Name">
            <input
              required
              maxLength={200}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </Field>
          <Field label="Project">
            <select required value={project} onChange={({ target }) => setProject(target.value)}>
              {able.map(({ id, name: title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Device" hint="Any: the job takes what fits.">
            <select value={model} onChange={({ target }) => setModel(target.value)}>
              <option value="">any</option>
              {(models.data ?? [])
                .filter(({ online }) => online > 0)
                .map(({ id, name: title, free, online }) => (
                  <option key={id} value={id}>
                    {title}: {free} of {online} free
                  </option>
                ))}
            </select>
          </Field>
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
          <progress max={Math.max(1, total)} value={sent} aria-label="Uploaded" /> {bytes(sent)} of{" "}
          {bytes(total)}
        </p>
      )}
      {submit.error === null ? null : (
        <Panel title="The job was not submitted">
          <Failure error={submit.error} />
        </Panel>
      )}
    </>
  );
}
