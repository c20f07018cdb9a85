import { CLI_DOWNLOADS } from "@resontech/contracts/cli-downloads";
import {
  KEY_SCOPES,
  type KeyReply,
  type KeyScope,
  MAX_KEY_DAYS,
  type MintedKeyReply,
} from "@resontech/contracts/http-identity";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Bell } from "../../ui/bell.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import styles from "./keys.module.css";

const DOWNLOADS = "/dashboard/downloads/";
const MEANING: Record<KeyScope, string> = {
  storage: "the project's bucket",
  "jobs:read": "look at jobs",
  "jobs:write": "submit and cancel jobs",
  keys: "list and revoke keys",
  "nodes:read": "look at nodes, as an administrator",
  "audit:read": "search the audit log",
  infer: "call deployments",
};
const FIRST: { name: string; projectId: string; scopes: KeyScope[]; days: number } = {
  ...{ name: "", projectId: "", days: 90 },
  scopes: ["storage", "jobs:read", "jobs:write"],
};

/** Which key is stale? */
export function KeysPage() {
  const { projects } = useSession();
  const client = useQueryClient();
  const [minted, setMinted] = useState<MintedKeyReply | null>(null);
  const [leaving, setLeaving] = useState<KeyReply | null>(null);
  const mayMint = useMay("key.mint");
  const keys = useQuery({
    queryKey: ["keys"],
    queryFn: ({ signal }) => ask("GET", "/api/keys", { signal }),
  });
  const again = () => void client.invalidateQueries({ queryKey: ["keys"] });
  const revoke = useAction(async (id: string) => {
    await ask("DELETE", "/api/keys/{id}", { params: { id } });
    setLeaving(null);
    again();
  });
  const nameOf = (id: string) =>
    projects.find((one) => one.id === id)?.name ?? "left: the key is refused";
  const living = keys.data?.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now(),
  );
  return (
    <>
      <PageHead title="Platform keys" about="Keys" actions={<Bell />}>
        A program that acts for you shows a platform key. It does no more than you may in its
        project.
      </PageHead>
      {keys.isPending ? <Skeleton /> : null}
      {keys.isError ? <Failure error={keys.error} retry={() => void keys.refetch()} /> : null}
      {minted === null ? null : (
        <ShownOnce
          key={minted.id}
          id="minted-key"
          title="The new key"
          secret={minted.key}
          onDone={() => setMinted(null)}
        />
      )}
      {living?.length === 0 ? (
        <Empty title="You have no platform key that is good">
          {mayMint ? <p>Mint one below, and give it to the program.</p> : null}
        </Empty>
      ) : null}
      {living === undefined || living.length === 0 ? null : (
        <Table
          caption="Your keys"
          rows={living}
          keyOf={({ id }) => id}
          columns={[
            { title: "Name", narrow: "main", of: ({ name }) => name },
            { title: "Key", of: ({ prefix, last4 }) => <code>{`${prefix}…${last4}`}</code> },
            { title: "Project", narrow: "below", of: ({ projectId }) => nameOf(projectId) },
            { title: "May", narrow: "below", of: ({ scopes }) => scopes.join(", ") },
            { title: "Good until", of: ({ expiresAt }) => <At at={expiresAt} /> },
            {
              title: "Last used",
              of: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />),
            },
            {
              title: "Revoke",
              of: (key) => (
                <Button
                  look="danger"
                  aria-label={`Revoke ${key.name}`}
                  onPress={() => setLeaving(key)}
                >
                  Revoke
                </Button>
              ),
            },
          ]}
        />
      )}
      <Question
        title={`Revoke the key ${leaving?.name ?? ""}?`}
        act="Revoke the key"
        isOpen={leaving !== null}
        isBusy={revoke.isBusy}
        onAct={() => {
          if (leaving !== null) revoke.run(leaving.id);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>Programs that use it are refused at once. A revoked key is never good again.</p>
        {revoke.error === null ? null : <Failure error={revoke.error} />}
      </Question>
      {mayMint ? (
        <Mint
          onMinted={(key) => {
            setMinted(key);
            again();
          }}
        />
      ) : (
        <p>
          Keys are minted by leads and researchers of a project, and you are neither. Ask a project
          lead.
        </p>
      )}
      <Panel title="The command line">
        <p>
          <a href={`${DOWNLOADS}${CLI_DOWNLOADS.executable}`} download>
            resontech for Linux
          </a>{" "}
          is one file that needs nothing installed.{" "}
          <a href={`${DOWNLOADS}${CLI_DOWNLOADS.digest}`} download>
            Its SHA-256
          </a>{" "}
          says whether it came whole.
        </p>
      </Panel>
    </>
  );
}

function Mint({ onMinted }: { onMinted: (key: MintedKeyReply) => void }) {
  const { projects } = useSession();
  const able = projects.filter(({ role }) => role === "project-lead" || role === "researcher");
  const [draft, setDraft] = useKept("rt-mint", FIRST);
  const projectId = able.some(({ id }) => id === draft.projectId)
    ? draft.projectId
    : (able[0]?.id ?? "");
  const mint = useAction(async () => {
    const { name, scopes, days } = draft;
    const body = { name, projectId, scopes, expiresInDays: days };
    onMinted(await ask("POST", "/api/keys", { body }));
    setDraft(FIRST);
  });
  return (
    <Panel title="Mint a key">
      <form
        id="mint"
        onSubmit={(event) => {
          event.preventDefault();
          mint.run();
        }}
      >
        <Field label="Name" hint="What the key is for: a host, a program.">
          <input
            id="name"
            required
            maxLength={64}
            autoComplete="off"
            value={draft.name}
            onChange={({ target }) => setDraft({ ...draft, name: target.value })}
          />
        </Field>
        <Field label="Project">
          <select
            required
            value={projectId}
            onChange={({ target }) => setDraft({ ...draft, projectId: target.value })}
          >
            {able.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Lifetime (days)">
          <input
            type="number"
            required
            min={1}
            max={MAX_KEY_DAYS}
            value={draft.days}
            onChange={({ target }) => setDraft({ ...draft, days: target.valueAsNumber })}
          />
        </Field>
        <fieldset className={styles["scopes"]}>
          <legend>What the key may do</legend>
          {KEY_SCOPES.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                value={scope}
                checked={draft.scopes.includes(scope)}
                onChange={({ target }) =>
                  setDraft({
                    ...draft,
                    scopes: target.checked
                      ? [...draft.scopes, scope]
                      : draft.scopes.filter((one) => one !== scope),
                  })
                }
              />{" "}
              {MEANING[scope]} <code>{scope}</code>
            </label>
          ))}
        </fieldset>
        <p>Minting asks for your second factor, where that is longer than five minutes ago.</p>
        <div>
          <Button
            id="mint-key"
            look="main"
            type="submit"
            isDisabled={mint.isBusy || draft.scopes.length === 0}
          >
            Mint the key
          </Button>
        </div>
      </form>
      {mint.error === null ? null : <Failure error={mint.error} />}
    </Panel>
  );
}
