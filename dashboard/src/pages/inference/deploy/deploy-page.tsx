import { slugOf } from "@resontech/contracts/ready-folder";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { ask } from "../../../api/ask.ts";
import { useSession } from "../../../api/session.ts";
import { bytes } from "../../../ui/bytes.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Field } from "../../../ui/field.tsx";
import { Failure, Warning } from "../../../ui/notice.tsx";
import { PageHead } from "../../../ui/page-head.tsx";
import { Panel, PanelGrid, PanelStack, Row } from "../../../ui/panel.tsx";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { useAction } from "../../../ui/use-action.ts";
import { upload } from "../../storage/upload.ts";
import { PoolField } from "../../submit/pool-field.tsx";
import styles from "../call-it.module.css";
import { holdKey } from "../held-keys.ts";
import {
  type Choices,
  engineFor,
  fitOf,
  fitSentence,
  ggufFiles,
  inferenceYaml,
  PURPOSES,
  type Source,
  weightBytes,
} from "./deploy-plan.ts";

const USUAL: Choices = {
  ...{ file: "", purpose: "chat", contextTokens: 4_096, callsAtOnce: 4 },
  ...{ leastReplicas: 1, mostReplicas: 1 },
};

/** Puts a model behind the OpenAI API, from the hub or from a file of the bucket. */
export function DeployPage() {
  const { projects } = useSession();
  const [, go] = useLocation();
  const able = projects.filter(({ role }) => role === "project-lead" || role === "researcher");
  const [project, setProject] = useState(able[0]?.id ?? "");
  const [name, setName] = useState("");
  const [source, setSource] = useState<Source | null>(null);
  const [choices, setChoices] = useState(USUAL);
  const [isPublic, setPublic] = useState(false);
  const [pool, setPool] = useState("");
  const [made, setMade] = useState<{ id: string; key: string } | null>(null);
  const ggufs = source === null ? [] : ggufFiles(source);
  const engine = source === null ? null : engineFor(source);
  const file = ggufs.includes(choices.file) ? choices.file : (ggufs[0] ?? "");
  const chosen = { ...choices, file: source?.from === "bucket" ? "" : file };
  const yaml = source === null || engine === null ? null : inferenceYaml(source, engine, chosen);
  const deploy = useAction(async () => {
    if (yaml === null) return;
    // A folder of its own: another deployment of this name may still read the one before.
    const folder = `inference_jobs/${slugOf(name)}-${crypto.randomUUID().slice(0, 8)}`;
    await upload(`${folder}/inference.yaml`, new Blob([yaml]), project, () => {});
    const reply = await ask("POST", "/api/inference/jobs", {
      project,
      body: {
        ...{ name, jobPath: `/${folder}`, autoSelectWorkers: true },
        visibility: isPublic ? "PUBLIC" : "PRIVATE",
        ...(engine === "llama.cpp" ? { gpuModels: ["cpu"] } : {}),
        ...(pool === "" ? {} : { pool }),
      },
    });
    const key = reply.apiKey ?? "";
    holdKey(reply.jobId, key);
    setMade({ id: reply.jobId, key });
  });
  if (made !== null)
    return (
      <>
        <PageHead title={`${name} is on its way`} about="Deploy" />
        <ShownOnce
          id="predict-key"
          title="Its key"
          secret={made.key}
          onDone={() => go(`/inference/jobs/${made.id}`)}
        />
      </>
    );
  const set = <K extends keyof Choices>(key: K, value: Choices[K]) =>
    setChoices({ ...choices, [key]: value });
  const number = (key: "contextTokens" | "callsAtOnce" | "leastReplicas" | "mostReplicas") => ({
    ...{ type: "number", required: true, value: choices[key] },
    onChange: ({ target }: { target: HTMLInputElement }) => set(key, target.valueAsNumber || 0),
  });
  return (
    <>
      <PageHead
        title="Deploy a model"
        about="Deploy"
        above={<Link href="/inference">Inference</Link>}
      >
        It answers chats or embeds texts, behind the OpenAI API.
      </PageHead>
      <PanelGrid>
        <Panel title="The model">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              deploy.run();
            }}
          >
            {able.length < 2 ? null : (
              <Field label="Project">
                <select value={project} onChange={({ target }) => setProject(target.value)}>
                  {able.map(({ id, name: title }) => (
                    <option key={id} value={id}>
                      {title}
                    </option>
                  ))}
                </select>
              </Field>
            )}
            <ChooseModel
              source={source}
              onChoose={(next) => {
                setSource(next);
                if (name === "" && next?.from === "hub") setName(next.model.split("/").at(-1)!);
              }}
            />
            {source !== null && engine === null ? (
              <Warning>
                <p>
                  No engine reads this: it has no GGUF file, nor a config.json with safetensors.
                </p>
              </Warning>
            ) : null}
            {source?.from === "hub" && ggufs.length > 1 ? (
              <Field label="Weights">
                <select value={file} onChange={({ target }) => set("file", target.value)}>
                  {ggufs.map((path) => (
                    <option key={path}>{path}</option>
                  ))}
                </select>
              </Field>
            ) : null}
            <Field label="Name" hint="Callers name it so.">
              <input
                required
                maxLength={200}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </Field>
            {engine === "llama.cpp" ? (
              <Field label="What it does">
                <select
                  value={choices.purpose}
                  onChange={({ target }) =>
                    set("purpose", PURPOSES.find((one) => one === target.value) ?? "chat")
                  }
                >
                  <option value="chat">answers chats</option>
                  <option value="embeddings">embeds texts</option>
                </select>
              </Field>
            ) : null}
            <Field label="Longest call (tokens)" hint="Question and answer together.">
              <input min={256} {...number("contextTokens")} />
            </Field>
            <Field label="Calls at once, each replica">
              <input min={1} max={engine === "vllm" ? 512 : 64} {...number("callsAtOnce")} />
            </Field>
            <Field label="Fewest replicas" hint="0: it sleeps when nobody calls.">
              <input min={0} {...number("leastReplicas")} />
            </Field>
            <Field label="Most replicas">
              <input min={Math.max(1, choices.leastReplicas)} {...number("mostReplicas")} />
            </Field>
            <PoolField {...{ project, pool }} onChange={setPool} />
            <p>
              <label>
                <input
                  type="checkbox"
                  checked={isPublic}
                  onChange={({ target }) => setPublic(target.checked)}
                />{" "}
                Everybody with a platform key of the scope <code>infer</code> may call it
              </label>
            </p>
            {source === null || engine === null ? null : (
              <Fits source={source} engine={engine} file={file} />
            )}
            {deploy.error === null ? null : <Failure error={deploy.error} />}
            <Row>
              <Button
                look="main"
                type="submit"
                isDisabled={deploy.isBusy || yaml === null || project === ""}
              >
                Deploy
              </Button>
              <span role="status">{deploy.isBusy ? "It is looked through." : ""}</span>
            </Row>
          </form>
        </Panel>
        <PanelStack>
          {yaml === null ? null : <SameFromShell yaml={yaml} name={name} pool={pool} />}
          <Panel title="Your own code">
            <p>
              A class of yours, or a container: put it into a folder with its{" "}
              <code>inference.yaml</code>, and run <code>resontech infer deploy FOLDER</code>.
            </p>
          </Panel>
        </PanelStack>
      </PanelGrid>
    </>
  );
}

const OWN_FILE = "bucket";

function ChooseModel({
  source,
  onChoose,
}: {
  source: Source | null;
  onChoose: (source: Source | null) => void;
}) {
  const models = useQuery({
    queryKey: ["hub-models"],
    queryFn: ({ signal }) => ask("GET", "/api/hub/models", { signal }),
  });
  const [isLoading, setLoading] = useState<unknown>(null);
  const ready = (models.data?.models ?? []).filter(({ state }) => state === "READY");
  const choose = async (value: string) => {
    setLoading(null);
    if (value === "" || value === OWN_FILE)
      return onChoose(value === "" ? null : { from: "bucket", path: "" });
    const [name = "", revision = ""] = value.split("@");
    const [organisation = "", model = ""] = name.split("/");
    try {
      const found = await ask("GET", "/api/hub/models/{organisation}/{model}/{revision}", {
        params: { organisation, model, revision },
      });
      onChoose({ from: "hub", model: name, revision, files: found.content });
    } catch (error) {
      onChoose(null);
      setLoading(error);
    }
  };
  // A link of the hub's page names a model.
  const linked = new URLSearchParams(useSearch()).get("model");
  const choosing = useEffectEvent(choose);
  useEffect(() => {
    if (linked !== null) void choosing(linked);
  }, [linked]);
  const value =
    source === null
      ? ""
      : source.from === "bucket"
        ? OWN_FILE
        : `${source.model}@${source.revision}`;
  return (
    <>
      <Field label="Model">
        <select required value={value} onChange={({ target }) => void choose(target.value)}>
          <option value="">Choose one</option>
          {ready.map(({ name, revision, sizeBytes }) => (
            <option key={`${name}@${revision}`} value={`${name}@${revision}`}>
              {name} @ {revision} ({bytes(sizeBytes)})
            </option>
          ))}
          <option value={OWN_FILE}>A GGUF file of the bucket</option>
        </select>
      </Field>
      {source?.from === "bucket" ? (
        <Field label="Its place in the bucket">
          <input
            required
            placeholder="/models/chat.gguf"
            pattern="/.+\.gguf"
            value={source.path}
            onChange={({ target }) => onChoose({ from: "bucket", path: target.value })}
          />
        </Field>
      ) : null}
      {models.isError ? <Failure error={models.error} retry={() => void models.refetch()} /> : null}
      {isLoading === null ? null : <Failure error={isLoading} />}
    </>
  );
}

/** Is there a worker for it? */
function Fits({
  source,
  engine,
  file,
}: {
  source: Source;
  engine: "llama.cpp" | "vllm";
  file: string;
}) {
  const workers = useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => ask("GET", "/api/customer/dashboard/workers/stats", { signal }),
  });
  const size = weightBytes(source, engine, file);
  if (size === null || workers.data === undefined) return null;
  const needsDevice = engine === "vllm";
  return (
    <p role="status">
      Its weights have {bytes(size)}.{" "}
      {fitSentence(fitOf(size, needsDevice, workers.data.workers), needsDevice)}
    </p>
  );
}

function SameFromShell({ yaml, name, pool }: { yaml: string; name: string; pool: string }) {
  const slug = slugOf(name === "" ? "model" : name);
  const text = [
    `mkdir -p ${slug}`,
    `cat > ${slug}/inference.yaml <<'END'`,
    `${yaml}END`,
    `resontech infer deploy ${slug}/${pool === "" ? "" : ` --pool ${pool}`} --key-file ${slug}.key --wait`,
  ].join("\n");
  return (
    <Panel title="The same from a shell">
      <pre id="deploy-code" className={styles["code"]} tabIndex={0}>
        {text}
      </pre>
      <Row>
        <Copy text={text} from="deploy-code" label="Copy it for a shell" />
      </Row>
    </Panel>
  );
}
