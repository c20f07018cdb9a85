import {
  type PublicKey,
  SERVICE_ACCOUNT_DAYS,
  SERVICE_ACCOUNT_SCOPES,
  type ServiceAccountScope,
} from "@resontech/contracts/http-service-accounts";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

type Project = { id: string; name: string };
const ACCOUNTS = "/api/projects/{id}/service-accounts";
const ACCOUNT = `${ACCOUNTS}/{account}` as const;
const FIRST: { name: string; scopes: ServiceAccountScope[]; publicKey: string } = {
  ...{ name: "", publicKey: "" },
  scopes: ["jobs:read"],
};

/** Programs of a project that sign in by a key of their own. */
export function ServiceAccounts({ project }: { project: Project }) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { id: projectId } = project;
  const queryKey = ["service-accounts", project.id];
  const accounts = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", ACCOUNTS, { params: { id: projectId }, signal }),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const again = () => client.invalidateQueries({ queryKey });
  const revoke = useAction(async (account: string) => {
    await ask("DELETE", ACCOUNT, { params: { id: projectId, account } });
    await again();
  });
  const adopt = useAction(async (account: string) => {
    await ask("POST", `${ACCOUNT}/adopt`, { params: { id: projectId, account } });
    await again();
  });
  if (!isOpen)
    return (
      <div>
        <Button onPress={() => setOpen(true)}>Show the service accounts</Button>
      </div>
    );
  if (accounts.isPending) return <Skeleton />;
  if (accounts.isError)
    return <Failure error={accounts.error} retry={() => void accounts.refetch()} />;
  const living = accounts.data.filter(({ revokedAt }) => revokedAt === null);
  return (
    <>
      {living.length === 0 ? (
        <p>{project.name} has no service account.</p>
      ) : (
        <Table
          caption={`Service accounts of ${project.name}`}
          rows={living}
          keyOf={({ id }) => id}
          columns={[
            { title: "Name", narrow: "main", of: ({ name }) => name },
            { title: "Client", of: ({ clientId }) => <code>{clientId}</code> },
            { title: "May", narrow: "below", of: ({ scopes }) => scopes.join(", ") },
            { title: "Good until", of: ({ expiresAt }) => <At at={expiresAt} /> },
            {
              title: "Last used",
              of: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />),
            },
            {
              title: "Answered for",
              of: ({ id, name, adoptBy }) =>
                adoptBy === null ? (
                  "yes"
                ) : (
                  <>
                    by nobody: it ends <At at={adoptBy} />{" "}
                    <Button
                      aria-label={`Adopt ${name}`}
                      isDisabled={adopt.isBusy}
                      onPress={() => adopt.run(id)}
                    >
                      Adopt it
                    </Button>
                  </>
                ),
            },
            {
              title: "Revoke",
              of: ({ id, name }) => (
                <Button
                  look="danger"
                  aria-label={`Revoke ${name}`}
                  isDisabled={revoke.isBusy}
                  onPress={() => revoke.run(id)}
                >
                  Revoke
                </Button>
              ),
            },
          ]}
        />
      )}
      {revoke.error === null ? null : <Failure error={revoke.error} />}
      {adopt.error === null ? null : <Failure error={adopt.error} />}
      <MakeAccount projectId={projectId} onDone={again} />
    </>
  );
}

function MakeAccount({ projectId, onDone }: { projectId: string; onDone: () => Promise<void> }) {
  const [draft, setDraft] = useKept(`rt-account-${projectId}`, FIRST);
  const make = useAction(async () => {
    const { name, scopes } = draft;
    const body = { name, scopes, publicKey: publicKeyOf(draft.publicKey) };
    await ask("POST", ACCOUNTS, { params: { id: projectId }, body });
    setDraft(FIRST);
    await onDone();
  });
  const toggle = (scope: ServiceAccountScope, isOn: boolean) =>
    setDraft({
      ...draft,
      scopes: isOn ? [...draft.scopes, scope] : draft.scopes.filter((one) => one !== scope),
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        make.run();
      }}
    >
      <Field label="Name of the program">
        <input
          required
          maxLength={64}
          autoComplete="off"
          value={draft.name}
          onChange={({ target }) => setDraft({ ...draft, name: target.value })}
        />
      </Field>
      <fieldset>
        <legend>What the program may do</legend>
        {SERVICE_ACCOUNT_SCOPES.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={draft.scopes.includes(scope)}
              onChange={({ target }) => toggle(scope, target.checked)}
            />{" "}
            {scope}{" "}
          </label>
        ))}
      </fieldset>
      <Field
        label="Its public key"
        hint="P-256, as a JSON Web Key. The shell makes a pair and the account at once: resontech service-accounts create."
      >
        <textarea
          required
          rows={4}
          maxLength={2_000}
          value={draft.publicKey}
          onChange={({ target }) => setDraft({ ...draft, publicKey: target.value })}
        />
      </Field>
      <p>
        <Button type="submit" isDisabled={make.isBusy || draft.scopes.length === 0}>
          Make the account for {SERVICE_ACCOUNT_DAYS} days
        </Button>
      </p>
      {make.error === null ? null : <Failure error={make.error} />}
    </form>
  );
}

/** What is no JSON is sent as it is: the API says what it wants. A private part never leaves the page. */
function publicKeyOf(text: string): PublicKey {
  try {
    const { d: _private, ...key } = JSON.parse(text) as PublicKey & { d?: string };
    return key;
  } catch {
    return text as unknown as PublicKey;
  }
}
