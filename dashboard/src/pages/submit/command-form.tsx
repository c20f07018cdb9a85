import type { SubmitCommandBody } from "@resontech/contracts/http-tasks";
import { slugOf } from "@resontech/contracts/ready-folder";
import { useState } from "react";
import { useLocation } from "wouter";
import { askAgain } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";
import { CodeBeside } from "./code-beside.tsx";
import { DeviceField } from "./device-field.tsx";
import { ProjectField } from "./project-field.tsx";
import { commandInCode } from "./same-in-code.ts";
import { COMMAND_TEMPLATE } from "./templates.ts";
import { TextEditor } from "./text-editor.tsx";
import { environmentOf, linesOf } from "./variant-draft.ts";
import styles from "./submit.module.css";

/** One script on one worker. */
export function CommandForm({
  project,
  onProject,
}: {
  project: string;
  onProject: (project: string) => void;
}) {
  const [, go] = useLocation();
  const [name, setName] = useState("first run");
  const [file, setFile] = useState<string>(COMMAND_TEMPLATE.file);
  const [text, setText] = useState<string>(COMMAND_TEMPLATE.text);
  const [inputs, setInputs] = useState<readonly File[]>([]);
  const [given, setGiven] = useState("50");
  const [environment, setEnvironment] = useState("");
  const [models, setModels] = useState("");
  const [minutes, setMinutes] = useState("");
  const root = `jobs/${slugOf(name)}`;
  const body: SubmitCommandBody = {
    ...{ kind: "command", name, scriptPath: `/${root}/scripts/${file}` },
    ...(given === "" ? {} : { arguments: linesOf(given) }),
    ...(environment.trim() === "" ? {} : { environment: environmentOf(environment) }),
    ...(inputs.length === 0 ? {} : { inputFolders: [`/${root}/inputs`] }),
    ...(models === "" ? {} : { gpuModels: models.split(",") }),
    ...(minutes === "" ? {} : { timeLimitMinutes: Number(minutes) }),
  };
  const submit = useAction(async () => {
    const said = () => undefined;
    await upload(`${root}/scripts/${file}`, new Blob([text]), project, said);
    for (const input of inputs) await upload(`${root}/inputs/${input.name}`, input, project, said);
    const job = await askAgain("POST", "/api/tasks", {
      ...{ body, project, idempotencyKey: crypto.randomUUID() },
    });
    go(`/jobs/${job.id}`);
  });
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title="The job">
          <p>
            One script on one worker, without a network. Files that it writes to{" "}
            <code>/app/out</code> are kept.
          </p>
          <form
            id="command"
            onSubmit={(event) => {
              event.preventDefault();
              submit.run();
            }}
          >
            <Field label="Name">
              <input
                required
                maxLength={200}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </Field>
            <Field label="Script" hint="Its name ends in .py or .sh.">
              <input
                required
                pattern="[A-Za-z0-9_][A-Za-z0-9._\-]*\.(py|sh)"
                value={file}
                onChange={({ target }) => setFile(target.value)}
              />
            </Field>
            <ProjectField project={project} onChange={onProject} />
            <Field label="Arguments" hint="One a line.">
              <textarea rows={2} value={given} onChange={({ target }) => setGiven(target.value)} />
            </Field>
            <Field label="Environment" hint="NAME=value, one a line.">
              <textarea
                rows={2}
                value={environment}
                onChange={({ target }) => setEnvironment(target.value)}
              />
            </Field>
            <Field
              label="Input files"
              hint={
                inputs.length === 0
                  ? "The script finds them below /app/payload/inputs."
                  : `${countOf(inputs.length, "file")}, ${bytes(inputs.reduce((sum, { size }) => sum + size, 0))}`
              }
            >
              <input
                type="file"
                multiple
                onChange={({ target }) => setInputs([...(target.files ?? [])])}
              />
            </Field>
            <DeviceField models={models} onChange={setModels} />
            <Field label="Time limit (minutes)" hint="Empty: no limit of its own.">
              <input
                type="number"
                min={1}
                value={minutes}
                onChange={({ target }) => setMinutes(target.value)}
              />
            </Field>
          </form>
          <TextEditor label={`Text of ${file}`} text={text} onChange={setText} />
          <div>
            <Button look="main" type="submit" form="command" isDisabled={submit.isBusy}>
              Submit
            </Button>
          </div>
          {submit.error === null ? null : <Failure error={submit.error} />}
        </Panel>
      </div>
      <CodeBeside code={commandInCode(file, body)} />
    </div>
  );
}
