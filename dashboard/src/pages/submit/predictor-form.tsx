import type { DeployedReply } from "@resontech/contracts/http-inference";
import { slugOf } from "@resontech/contracts/ready-folder";
import { useState } from "react";
import { useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";
import { CodeBeside } from "./code-beside.tsx";
import { DeviceField } from "./device-field.tsx";
import { ProjectField } from "./project-field.tsx";
import { predictorInCode } from "./same-in-code.ts";
import { PREDICTOR_TEMPLATE } from "./templates.ts";
import { TextEditor } from "./text-editor.tsx";
import styles from "./submit.module.css";

/** A class that answers calls, kept ready. */
export function PredictorForm({
  project,
  onProject,
}: {
  project: string;
  onProject: (project: string) => void;
}) {
  const [, go] = useLocation();
  const [name, setName] = useState("echo");
  const [yaml, setYaml] = useState<string>(PREDICTOR_TEMPLATE.yaml);
  const [text, setText] = useState<string>(PREDICTOR_TEMPLATE.text);
  const [models, setModels] = useState("cpu");
  const [made, setMade] = useState<DeployedReply | null>(null);
  const folder = `inference_jobs/${slugOf(name)}`;
  const deploy = useAction(async () => {
    const said = () => undefined;
    const script = `${folder}/scripts/${PREDICTOR_TEMPLATE.file}`;
    await upload(`${folder}/inference.yaml`, new Blob([yaml]), project, said);
    await upload(script, new Blob([text]), project, said);
    const deployed = await ask("POST", "/api/inference/jobs", {
      body: {
        ...{ name, jobPath: `/${folder}` },
        ...(models === "" ? {} : { gpuModels: models.split(",") }),
      },
      project,
    });
    if (deployed.apiKey === null) go(`/inference/jobs/${deployed.jobId}`);
    else setMade(deployed);
  });
  if (made !== null)
    return (
      <ShownOnce
        id="predict-key"
        title={`The key of ${name}`}
        secret={made.apiKey ?? ""}
        onDone={() => go(`/inference/jobs/${made.jobId}`)}
      />
    );
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title="The predictor">
          <p>A class of yours that stays ready and answers calls. It gets a key of its own.</p>
          <form
            id="predictor"
            onSubmit={(event) => {
              event.preventDefault();
              deploy.run();
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
            <ProjectField project={project} onChange={onProject} />
            <DeviceField models={models} onChange={setModels} />
          </form>
          <h3>inference.yaml</h3>
          <TextEditor label="Text of inference.yaml" text={yaml} onChange={setYaml} />
          <h3>{PREDICTOR_TEMPLATE.file}</h3>
          <TextEditor label={`Text of ${PREDICTOR_TEMPLATE.file}`} text={text} onChange={setText} />
          <div>
            <Button look="main" type="submit" form="predictor" isDisabled={deploy.isBusy}>
              Deploy
            </Button>
          </div>
          {deploy.error === null ? null : <Failure error={deploy.error} />}
        </Panel>
      </div>
      <CodeBeside code={predictorInCode({ name, models })} />
    </div>
  );
}
