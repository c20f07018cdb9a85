import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Question } from "../../ui/question.tsx";
import { useAction } from "../../ui/use-action.ts";
import type { Names } from "./named-people.ts";

const NOBODY: Names = new Map();
const KEY = ["audit-names"];

/** Empty until somebody has asked for them, with a reason. */
export function useNames(): Names {
  const { data } = useQuery<Names>({
    queryKey: KEY,
    queryFn: () => NOBODY,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? NOBODY;
}

/** Shows names beside the log's pseudonyms, to whoever may list people: that somebody did, and why, is an entry of the log. */
export function ShowNames() {
  const mayRead = useMay("people.read");
  const client = useQueryClient();
  const areShown = useNames().size > 0;
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const show = useAction(async () => {
    const people = await ask("GET", "/api/people", { query: { reason: reason.trim() } });
    client.setQueryData<Names>(KEY, new Map(people.map(({ id, username }) => [id, username])));
    setOpen(false);
    setReason("");
  });
  if (!mayRead) return null;
  if (areShown)
    return (
      <Button look="quiet" onPress={() => client.setQueryData<Names>(KEY, NOBODY)}>
        Hide names
      </Button>
    );
  return (
    <>
      <Button onPress={() => setOpen(true)}>Show names</Button>
      <Question
        title="Show who these people are?"
        act="Show names"
        look="main"
        isOpen={isOpen}
        isBusy={show.isBusy}
        isReady={reason.trim() !== ""}
        onAct={() => show.run()}
        onClose={() => {
          show.forget();
          setOpen(false);
        }}
      >
        <p>
          The log knows people by pseudonyms. That you looked, and why, becomes an entry of the log.
          Names stay on this page: no export holds them.
        </p>
        <Field label="Reason" hint="Kept sealed beside the entry.">
          <input
            required
            maxLength={500}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </Field>
        {show.error === null ? null : <Failure error={show.error} />}
      </Question>
    </>
  );
}
