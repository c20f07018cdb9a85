import { bodyOfFolder, missingFolders, slugOf } from "@resontech/contracts/ready-folder";
import { useState } from "react";
import { useLocation } from "wouter";
import { askAgain } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Row } from "../../ui/panel.tsx";
import { saveBytes } from "../../ui/save-bytes.ts";
import { useAction } from "../../ui/use-action.ts";
import type { ChosenFile } from "./chosen-files.ts";
import type { ClassWish, WayWish } from "./class-wishes.ts";
import { DeviceField } from "./device-field.tsx";
import { FolderField } from "./folder-field.tsx";
import { ClassField, MakesWayField, MinutesField, NameField, PriceField } from "./job-fields.tsx";
import { PoolField } from "./pool-field.tsx";
import { ProjectField } from "./project-field.tsx";
import { folderInCode } from "./same-in-code.ts";
import { SubmitForm } from "./submit-form.tsx";
import { TextEditor } from "./text-editor.tsx";
import { useSubmission } from "./use-submission.ts";

const NOTHING: { name: string; files: readonly ChosenFile[] } = { name: "", files: [] };

/** A federated job of a folder on the person's disk, or of a template. */
export function FolderForm({
  project,
  onProject,
}: {
  project: string;
  onProject: (project: string) => void;
}) {
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [{ name: folder, files }, setFolder] = useState(NOTHING);
  /** Of a template: the file that is edited here. */
  const [edited, setEdited] = useState<{ path: string; text: string } | null>(null);
  const [models, setModels] = useState("");
  const [pool, setPool] = useState("");
  const [price, setPrice] = useState("");
  const [minutes, setMinutes] = useState("");
  const [jobClass, setClass] = useState<ClassWish>("");
  const [makesWay, setMakesWay] = useState<WayWish>("");
  const folders = [...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))];
  const choose = (chosen: typeof NOTHING) => {
    setFolder(chosen);
    setEdited(null);
    if (name === "" || name === folder) setName(chosen.name);
  };
  const begin = useAction(async () => {
    const { templateFolder } = await import("./template-folder.ts");
    const { main, ...template } = templateFolder();
    choose(template);
    const file = template.files.find(({ path }) => path === main)?.file;
    if (file !== undefined) setEdited({ path: main, text: await file.text() });
  });
  const take = useAction(async () => {
    const { zipOfFolder } = await import("./template-folder.ts");
    const zip = await zipOfFolder(slugOf(folder), files);
    saveBytes(zip, `${slugOf(folder)}.zip`, "application/zip");
  });
  const edit = (path: string, text: string) => {
    setEdited({ path, text });
    const file = new File([text], path);
    setFolder({
      name: folder,
      files: files.map((one) => (one.path === path ? { path, file } : one)),
    });
  };
  const submission = useSubmission(
    project,
    () => files.map(({ path, file }) => ({ key: `jobs/${slugOf(name)}/${path}`, content: file })),
    async (_, idempotencyKey) => {
      const number = (text: string) => (text === "" ? undefined : Number(text));
      const body = bodyOfFolder(name, folders, {
        gpuModels: models === "" ? undefined : models.split(","),
        maxPriceCents: number(price),
        minutes: number(minutes),
        pool: pool === "" ? undefined : pool,
        jobClass: jobClass === "" ? undefined : jobClass,
        isPreemptible: makesWay === "" ? undefined : makesWay === "yes",
      });
      const job = await askAgain("POST", "/api/tasks", {
        ...{ body, project, idempotencyKey: idempotencyKey(body) },
      });
      go(`/jobs/${job.id}`);
    },
  );
  return (
    <SubmitForm
      title="The job"
      about={
        <>
          A folder with <code>shards/</code>, <code>scripts/</code>, <code>configs/</code> and{" "}
          <code>requirements/</code>, and perhaps <code>model/</code>. Each shard goes to a site of
          its own.
        </>
      }
      action="Upload and submit"
      failed="The job was not submitted"
      submission={submission}
      isReady={files.length > 0 && missingFolders(folders).length === 0}
      code={folderInCode(edited === null ? folder : slugOf(folder), {
        name,
        models,
        price,
        minutes,
        pool,
        jobClass,
        makesWay,
      })}
      aboutCode={
        edited === null
          ? "Python makes scripts and configs of a model of yours; the shell takes the folder as it is."
          : "The shell takes the template as a folder: download it, and unpack the zip."
      }
      texts={
        edited === null ? null : (
          <>
            <h3>{edited.path}</h3>
            <p>
              Circles, squares and triangles of two sites that draw them differently, in six rounds.
              Change what you like, or submit it as it is.
            </p>
            <TextEditor
              label={`Text of ${edited.path}`}
              text={edited.text}
              onChange={(text) => edit(edited.path, text)}
            />
          </>
        )
      }
    >
      <FolderField
        {...{ folder, files }}
        onChoose={choose}
        isTemplate={edited !== null}
        error={begin.error ?? take.error}
      >
        {edited !== null ? (
          <Row>
            <Button isDisabled={take.isBusy} onPress={() => take.run()}>
              Download the folder
            </Button>
            <Button look="quiet" onPress={() => choose(NOTHING)}>
              Choose a folder instead
            </Button>
          </Row>
        ) : files.length > 0 ? null : (
          <Row>
            <span>No folder yet?</span>
            <Button isDisabled={begin.isBusy} onPress={() => begin.run()}>
              Begin with an image classifier
            </Button>
          </Row>
        )}
      </FolderField>
      <NameField value={name} onChange={setName} />
      <ProjectField project={project} onChange={onProject} />
      <DeviceField models={models} onChange={setModels} />
      <PoolField {...{ project, pool }} onChange={setPool} />
      <PriceField value={price} onChange={setPrice} />
      <MinutesField value={minutes} onChange={setMinutes} />
      <ClassField value={jobClass} onChange={setClass} />
      <MakesWayField value={makesWay} onChange={setMakesWay} />
    </SubmitForm>
  );
}
