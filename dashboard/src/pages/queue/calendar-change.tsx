import type { CalendarEntryReply } from "@resontech/contracts/http-pools";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";
import { changedDraftOf, changedEntry, type ChangedDraft } from "./calendar-draft.ts";

/** Another time or another reason for an entry that is there. Whose nodes it is of stays. */
export function CalendarChange({
  entry,
  onDone,
}: {
  entry: CalendarEntryReply;
  onDone: () => Promise<void>;
}) {
  const [draft, setDraft] = useState(() => changedDraftOf(entry));
  const change = changedEntry(entry, draft);
  const save = useAction(async () => {
    await ask("PUT", "/api/calendar/{id}", { params: { id: entry.id }, body: change });
    await onDone();
  });
  const write = (next: Partial<ChangedDraft>) => {
    save.forget();
    setDraft({ ...draft, ...next });
  };
  return (
    <form
      aria-label={`Entry ${entry.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      <Field label="From">
        <input
          type="datetime-local"
          required
          value={draft.from}
          onChange={({ target }) => write({ from: target.value })}
        />
      </Field>
      <Field label="Until">
        <input
          type="datetime-local"
          required
          value={draft.until}
          onChange={({ target }) => write({ until: target.value })}
        />
      </Field>
      <Field label="Reason" hint="Told to whoever sees it. Left empty it stays.">
        <input
          maxLength={200}
          value={draft.reason}
          onChange={({ target }) => write({ reason: target.value })}
        />
      </Field>
      {save.error === null ? null : <Failure error={save.error} />}
      <p>
        <Button
          type="submit"
          look="main"
          isDisabled={save.isBusy || Object.keys(change).length === 0}
        >
          Change the entry
        </Button>
      </p>
    </form>
  );
}
