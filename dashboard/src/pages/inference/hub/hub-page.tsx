import type { ModelRow } from "@resontech/contracts/http-models";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../../api/ask.ts";
import { useMay, useSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { bytes } from "../../../ui/bytes.ts";
import { Copy } from "../../../ui/copy.tsx";
import { Field } from "../../../ui/field.tsx";
import { Ago } from "../../../ui/instant.tsx";
import { Empty, Failure } from "../../../ui/notice.tsx";
import { PageHead } from "../../../ui/page-head.tsx";
import { Panel, Row } from "../../../ui/panel.tsx";
import { Question } from "../../../ui/question.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { State } from "../../../ui/state.tsx";
import type { StateWord } from "../../../ui/state-word.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { useAction } from "../../../ui/use-action.ts";
import styles from "../call-it.module.css";

const KEY = ["hub-models"];
/** Digests of large files take their time. */
const CHECKED_EVERY_MS = 3_000;

const WORDS: Record<ModelRow["state"], StateWord> = {
  CHECKING: { word: "being read", tone: "busy", shape: "half" },
  READY: { word: "ready", tone: "good", shape: "tick" },
  FAILED: { word: "failed", tone: "bad", shape: "cross" },
};

/** Models that everybody here may use by a name. */
export function HubPage() {
  const client = useQueryClient();
  const mayAdd = useMay("model.add");
  const mayRemove = useMay("model.remove");
  const [leaving, setLeaving] = useState<ModelRow | null>(null);
  const models = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => ask("GET", "/api/hub/models", { signal }),
    refetchInterval: ({ state }) =>
      state.data?.models.some((model) => model.state === "CHECKING") === true
        ? CHECKED_EVERY_MS
        : false,
  });
  const again = () => client.invalidateQueries({ queryKey: KEY });
  const remove = useAction(async ({ name, revision }: ModelRow) => {
    const [organisation = "", model = ""] = name.split("/");
    await ask("DELETE", "/api/hub/models/{organisation}/{model}/{revision}", {
      params: { organisation, model, revision },
    });
    setLeaving(null);
    await again();
  });
  return (
    <>
      <PageHead
        title="Models of the hub"
        about="Models"
        above={<Link href="/inference">Inference</Link>}
      >
        Everybody here may deploy them by name, and download them with <code>huggingface_hub</code>.
      </PageHead>
      {models.isPending ? <Skeleton /> : null}
      {models.isError ? <Failure error={models.error} retry={() => void models.refetch()} /> : null}
      {models.data?.models.length === 0 ? (
        <Empty title="No model yet">
          <p>
            {mayAdd
              ? "Add a folder or a file of your bucket below. Its files stay where they are."
              : "Models that somebody adds can be deployed by name, by everybody here."}
          </p>
        </Empty>
      ) : null}
      {models.data === undefined || models.data.models.length === 0 ? null : (
        <>
          <Table
            caption="Models of the hub"
            rows={models.data.models}
            keyOf={({ name, revision }) => `${name}@${revision}`}
            columns={columns(mayRemove ? setLeaving : null)}
          />
          <Download />
        </>
      )}
      {mayAdd ? <Add onAdded={again} /> : null}
      <Question
        title={`Take ${leaving?.name ?? ""} out of the hub?`}
        act="Take out"
        isOpen={leaving !== null}
        isBusy={remove.isBusy}
        onAct={() => {
          if (leaving !== null) remove.run(leaving);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>Its files stay in the bucket, and deployments of it go on.</p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
    </>
  );
}

function columns(onRemove: ((model: ModelRow) => void) | null): Column<ModelRow>[] {
  return [
    {
      title: "State",
      of: ({ state, why }) => (
        <>
          <State of={WORDS[state]} /> {why ?? ""}
        </>
      ),
      by: ({ state }) => WORDS[state].word,
    },
    { title: "Model", of: ({ name }) => name, by: ({ name }) => name },
    { title: "Revision", of: ({ revision }) => revision },
    { title: "Licence", of: ({ licence }) => licence, by: ({ licence }) => licence },
    { title: "Files", of: ({ files }) => files, by: ({ files }) => files, isNumber: true },
    {
      title: "Size",
      of: ({ sizeBytes }) => bytes(sizeBytes),
      by: ({ sizeBytes }) => sizeBytes,
      isNumber: true,
    },
    {
      title: "Added",
      of: ({ createdAt }) => <Ago at={createdAt} />,
      by: ({ createdAt }) => createdAt,
      isNumber: true,
    },
    {
      title: "Use it",
      of: (model) => (
        <Row>
          {model.state === "READY" ? (
            <Link
              href={`/inference/deploy?model=${encodeURIComponent(`${model.name}@${model.revision}`)}`}
            >
              Deploy
            </Link>
          ) : null}
          {onRemove === null ? null : (
            <Button
              look="quiet"
              aria-label={`Take out ${model.name}@${model.revision}`}
              onPress={() => onRemove(model)}
            >
              Take out
            </Button>
          )}
        </Row>
      ),
    },
  ];
}

function Download() {
  const text = [
    `export HF_ENDPOINT=${location.origin} HF_TOKEN=$RESON_API_KEY SSL_CERT_FILE=root.crt`,
    `python -c 'from huggingface_hub import snapshot_download; print(snapshot_download("ORGANISATION/MODEL", revision="main"))'`,
  ].join("\n");
  return (
    <Panel title="Download one">
      <pre id="hub-code" className={styles["code"]} tabIndex={0}>
        {text}
      </pre>
      <Row>
        <Copy text={text} from="hub-code" label="Copy it for a shell" />
        <span>The platform key needs the scope jobs:read.</span>
      </Row>
    </Panel>
  );
}

const NOTHING = { name: "", revision: "main", licence: "", path: "" };

function Add({ onAdded }: { onAdded: () => Promise<void> }) {
  const { projects } = useSession();
  const able = projects.filter(({ role }) => role === "project-lead" || role === "researcher");
  const [project, setProject] = useState(able[0]?.id ?? "");
  const [draft, setDraft] = useState(NOTHING);
  const [said, setSaid] = useState("");
  const add = useAction(async () => {
    const { name, revision } = await ask("POST", "/api/hub/models", { body: draft, project });
    setSaid(`${name}@${revision} is being read. It is ready when each file has its digest.`);
    setDraft(NOTHING);
    await onAdded();
  });
  const set = (field: keyof typeof NOTHING) => ({
    ...{ required: true, value: draft[field] },
    onChange: ({ target }: { target: { value: string } }) =>
      setDraft({ ...draft, [field]: target.value }),
  });
  if (able.length === 0) return null;
  return (
    <Panel title="Add a model">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.run();
        }}
      >
        {able.length < 2 ? null : (
          <Field label="Project">
            <select value={project} onChange={({ target }) => setProject(target.value)}>
              {able.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
        )}
        <Field label="Name" hint="As on Hugging Face: organisation/model.">
          <input maxLength={96} placeholder="lab/mini" {...set("name")} />
        </Field>
        <Field label="Revision" hint="A revision that is there stays as it is.">
          <input maxLength={96} {...set("revision")} />
        </Field>
        <Field label="Licence" hint="As SPDX has it, or in its maker's words.">
          <input maxLength={200} placeholder="Apache-2.0" {...set("licence")} />
        </Field>
        <Field label="Place in the bucket" hint="A folder or a file, with a leading slash.">
          <input maxLength={1024} pattern="/.+" placeholder="/models/mini/" {...set("path")} />
        </Field>
        {add.error === null ? null : <Failure error={add.error} />}
        <Row>
          <Button type="submit" isDisabled={add.isBusy}>
            Add the model
          </Button>
          <span role="status">{said}</span>
        </Row>
      </form>
    </Panel>
  );
}
