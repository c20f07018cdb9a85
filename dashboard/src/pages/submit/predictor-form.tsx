import type { DeployedReply } from "@resontech/contracts/http-inference";
import { slugOf } from "@resontech/contracts/ready-folder";
import { useState } from "react";
import { useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { DeviceField } from "./device-field.tsx";
import { NameField } from "./job-fields.tsx";
import { PoolField } from "./pool-field.tsx";
import { ProjectField } from "./project-field.tsx";
import { predictorInCode } from "./same-in-code.ts";
import { SubmitForm } from "./submit-form.tsx";
import { PREDICTOR_TEMPLATE } from "./templates.ts";
import { TextEditor } from "./text-editor.tsx";
import { useSubmission } from "./use-submission.ts";

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
  const [pool, setPool] = useState("");
  const [made, setMade] = useState<DeployedReply | null>(null);
  const folder = `inference_jobs/${slugOf(name)}`;
  const submission = useSubmission(
    project,
    () => [
      { key: `${folder}/inference.yaml`, content: yaml },
      { key: `${folder}/scripts/${PREDICTOR_TEMPLATE.file}`, content: text },
    ],
    async () => {
      const deployed = await ask("POST", "/api/inference/jobs", {
        body: {
          ...{ name, jobPath: `/${folder}` },
          ...(models === "" ? {} : { gpuModels: models.split(",") }),
          ...(pool === "" ? {} : { pool }),
        },
        project,
      });
      if (deployed.apiKey === null) go(`/inference/jobs/${deployed.jobId}`);
      else setMade(deployed);
    },
  );
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
    <SubmitForm
      title="The predictor"
      about="A class of yours that stays ready and answers calls. It gets a key of its own."
      action="Deploy"
      failed="The predictor was not deployed"
      submission={submission}
      code={predictorInCode({ name, models, pool })}
      texts={
        <>
          <h3>inference.yaml</h3>
          <TextEditor label="Text of inference.yaml" text={yaml} onChange={setYaml} />
          <h3>{PREDICTOR_TEMPLATE.file}</h3>
          <TextEditor label={`Text of ${PREDICTOR_TEMPLATE.file}`} text={text} onChange={setText} />
        </>
      }
    >
      <NameField value={name} onChange={setName} />
      <ProjectField project={project} onChange={onProject} />
      <DeviceField models={models} onChange={setModels} />
      <PoolField {...{ project, pool }} onChange={setPool} />
    </SubmitForm>
  );
}
