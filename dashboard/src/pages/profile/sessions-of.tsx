import type { PersonSession } from "@resontech/contracts/http-identity";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";

const WORDS: Record<PersonSession["kind"], string> = {
  browser: "browser",
  shell: "shell",
  other: "nowhere any more",
};

/** Shows where somebody is signed in. To list that is a fact of the audit log, so the list waits until it is asked for. */
export function SessionsOf({ userId, name }: { userId: string; name: string }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <SessionList userId={userId} name={name} />;
  return (
    <div>
      <Button onPress={() => setOpen(true)}>Show where {name} is signed in</Button>
    </div>
  );
}

function SessionList({ userId, name }: { userId: string; name: string }) {
  const client = useQueryClient();
  const queryKey = ["sessions", userId];
  const sessions = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      ask("GET", "/api/people/{id}/sessions", { params: { id: userId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const end = useAction(async (session: string) => {
    const params = { id: userId, session };
    await ask("DELETE", "/api/people/{id}/sessions/{session}", { params });
    await client.invalidateQueries({ queryKey });
  });
  if (sessions.isPending) return <Skeleton />;
  if (sessions.isError)
    return <Failure error={sessions.error} retry={() => void sessions.refetch()} />;
  return (
    <>
      {sessions.data.complete ? null : (
        <Warning>Keycloak does not answer: sessions of shells are missing.</Warning>
      )}
      {sessions.data.sessions.length === 0 ? (
        <p>{name} is signed in nowhere.</p>
      ) : (
        <Table
          caption={`Sessions of ${name}`}
          rows={sessions.data.sessions}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Where",
              narrow: "main",
              of: ({ kind, current }) => (current ? `${WORDS[kind]}, this one` : WORDS[kind]),
            },
            { title: "Since", narrow: "below", of: ({ startedAt }) => <At at={startedAt} /> },
            { title: "Last seen", of: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
            {
              title: "End",
              of: ({ id }) => (
                <Button look="danger" isDisabled={end.isBusy} onPress={() => end.run(id)}>
                  End it
                </Button>
              ),
            },
          ]}
        />
      )}
      {end.error === null ? null : <Failure error={end.error} />}
    </>
  );
}
