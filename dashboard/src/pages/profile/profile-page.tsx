import { MAX_SSH_KEYS, type SshKeysReply } from "@resontech/contracts/http-identity";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, PanelGrid } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { Account } from "./account.tsx";
import { JobNotices } from "./job-notices.tsx";
import { PersonalDataLink } from "./personal-data-link.tsx";
import { SessionsOf } from "./sessions-of.tsx";

type SshKey = SshKeysReply["keys"][number];
const QUERY = ["ssh-keys"];

/** What is one's own, whatever the roles. */
export function ProfilePage() {
  const { user } = useSession();
  return (
    <>
      <PageHead title="Your profile" />
      <PanelGrid>
        <Account />
        <Panel title="Where you are signed in">
          <SessionsOf userId={user.id} name={user.username} />
        </Panel>
      </PanelGrid>
      <SshKeys />
      <JobNotices />
      <Panel title="What is held about you">
        <p>
          One file of JSON lines: your account, roles, projects, keys, jobs, and what the audit log
          has of you. Its first line says what is left out. That you took it is on record.
        </p>
        <p>
          <PersonalDataLink userId={user.id}>Download what is held about you</PersonalDataLink>
        </p>
      </Panel>
    </>
  );
}

function SshKeys() {
  const client = useQueryClient();
  const [line, setLine] = useState("");
  const found = useQuery({
    queryKey: QUERY,
    queryFn: ({ signal }) => ask("GET", "/api/me/ssh-keys", { signal }),
  });
  const put = useAction(async (keys: string[]) => {
    client.setQueryData(QUERY, await ask("PUT", "/api/me/ssh-keys", { body: { keys } }));
    setLine("");
  });
  if (found.isPending) return <Skeleton />;
  if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
  const { keys } = found.data;
  const without = (gone: SshKey) => keys.filter((one) => one !== gone).map(({ key }) => key);
  return (
    <Panel title="SSH public keys">
      {keys.length === 0 ? (
        <p>You have none. Whoever you let in by SSH later shows the key that belongs to one.</p>
      ) : (
        <Table
          caption="SSH public keys"
          rows={keys}
          keyOf={({ fingerprint }) => fingerprint}
          columns={[
            {
              title: "Fingerprint",
              narrow: "below",
              of: ({ fingerprint }) => <code>{fingerprint}</code>,
            },
            { title: "Kind", narrow: "below", of: ({ type }) => type },
            { title: "Comment", narrow: "main", of: ({ comment }) => comment },
            {
              title: "Remove",
              of: (one) => (
                <Button
                  look="danger"
                  aria-label={`Remove ${one.comment || one.fingerprint}`}
                  isDisabled={put.isBusy}
                  onPress={() => put.run(without(one))}
                >
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
      {keys.length >= MAX_SSH_KEYS ? (
        <p>{MAX_SSH_KEYS} are the most.</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            put.run([...keys.map(({ key }) => key), line.trim()]);
          }}
        >
          <Field label="Another key" hint="The line of a .pub file: ssh-ed25519 AAAA… you@laptop">
            <textarea
              required
              rows={3}
              maxLength={4_096}
              value={line}
              onChange={({ target }) => setLine(target.value)}
            />
          </Field>
          <p>
            <Button type="submit" isDisabled={put.isBusy}>
              Add the key
            </Button>
          </p>
        </form>
      )}
      {put.error === null ? null : <Failure error={put.error} />}
    </Panel>
  );
}
