import type { SubmitCommandBody, SubmitDistributedBody } from "@resontech/contracts/http-tasks";
import { slugOf } from "@resontech/contracts/ready-folder";
import { useState } from "react";
import { useLocation } from "wouter";
import { askAgain } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { countOf } from "../../ui/count-of.ts";
import { Field } from "../../ui/field.tsx";
import { Advice } from "./advice.tsx";
import type { ClassWish, StrategyWish, WayWish } from "./class-wishes.ts";
import { DeviceField } from "./device-field.tsx";
import {
  ArgumentsField,
  ClassField,
  CpusField,
  EnvironmentField,
  HostMemoryField,
  MakesWayField,
  MinutesField,
  NameField,
  RanksField,
  StrategyField,
  WorkersField,
} from "./job-fields.tsx";
import { PoolField } from "./pool-field.tsx";
import { ProjectField } from "./project-field.tsx";
import { commandInCode } from "./same-in-code.ts";
import { SubmitForm } from "./submit-form.tsx";
import { COMMAND_TEMPLATE } from "./templates.ts";
import { TextEditor } from "./text-editor.tsx";
import { useSubmission } from "./use-submission.ts";
import { environmentOf, linesOf } from "./variant-draft.ts";

/** One script in one container, or as several ranks. */
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
  const [ranks, setRanks] = useState("");
  const [strategy, setStrategy] = useState<StrategyWish>("");
  const [workers, setWorkers] = useState("");
  const [cpus, setCpus] = useState("");
  const [hostMemory, setHostMemory] = useState("");
  const [pool, setPool] = useState("");
  const [minutes, setMinutes] = useState("");
  const [jobClass, setClass] = useState<ClassWish>("");
  const [makesWay, setMakesWay] = useState<WayWish>("");
  const root = `jobs/${slugOf(name)}`;
  const body: SubmitCommandBody | SubmitDistributedBody = {
    ...(ranks === ""
      ? { kind: "command" as const }
      : {
          ...{ kind: "distributed" as const, workers: Number(ranks) },
          ...(strategy === "" ? {} : { strategy }),
        }),
    ...{ name, scriptPath: `/${root}/scripts/${file}` },
    ...(given === "" ? {} : { arguments: linesOf(given) }),
    ...(environment.trim() === "" ? {} : { environment: environmentOf(environment) }),
    ...(inputs.length === 0 ? {} : { inputFolders: [`/${root}/inputs`] }),
    ...(models === "" ? {} : { gpuModels: models.split(",") }),
    ...(workers === "" ? {} : { workersPerMember: Number(workers) }),
    ...(cpus === "" ? {} : { cpusPerMember: Number(cpus) }),
    ...(hostMemory === "" ? {} : { hostMemoryMbPerMember: Number(hostMemory) }),
    ...(pool === "" ? {} : { pool }),
    ...(minutes === "" ? {} : { timeLimitMinutes: Number(minutes) }),
    ...(jobClass === "" ? {} : { class: jobClass }),
    ...(makesWay === "" ? {} : { preemptible: makesWay === "yes" }),
  };
  const submission = useSubmission(
    project,
    () => [
      { key: `${root}/scripts/${file}`, content: text },
      ...inputs.map((input) => ({ key: `${root}/inputs/${input.name}`, content: input })),
    ],
    async (_, idempotencyKey) => {
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
          One script, in one container or as several ranks, without a way out. Files that it writes
          to <code>/app/out</code> are kept.
        </>
      }
      action="Submit"
      failed="The job was not submitted"
      submission={submission}
      code={commandInCode(
        file,
        body,
        inputs.map(({ name: input }) => input),
      )}
      texts={
        <>
          <Advice
            models={models}
            onTake={(advised) => {
              setRanks(String(advised.workers));
              setStrategy(advised.strategy);
              setModels(advised.model);
              // The appliance puts so many ranks on a member as the device lets it.
              setWorkers("");
            }}
          />
          <TextEditor label={`Text of ${file}`} text={text} onChange={setText} />
        </>
      }
    >
      <NameField value={name} onChange={setName} />
      <Field label="Script" hint="Its name ends in .py or .sh.">
        <input
          required
          pattern="[A-Za-z0-9_][A-Za-z0-9._\-]*\.(py|sh)"
          value={file}
          onChange={({ target }) => setFile(target.value)}
        />
      </Field>
      <ProjectField project={project} onChange={onProject} />
      <ArgumentsField value={given} onChange={setGiven} />
      <EnvironmentField value={environment} onChange={setEnvironment} />
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
      <RanksField value={ranks} onChange={setRanks} />
      {ranks === "" ? null : <StrategyField value={strategy} onChange={setStrategy} />}
      <WorkersField value={workers} onChange={setWorkers} />
      <CpusField value={cpus} onChange={setCpus} />
      <HostMemoryField value={hostMemory} onChange={setHostMemory} />
      <PoolField {...{ project, pool }} onChange={setPool} />
      <MinutesField value={minutes} onChange={setMinutes} />
      <ClassField value={jobClass} onChange={setClass} />
      <MakesWayField value={makesWay} onChange={setMakesWay} />
    </SubmitForm>
  );
}
