import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { type CalendarDraft, NEW_ENTRY, newEntry } from "./calendar-draft.ts";
import { NodesField } from "./nodes-field.tsx";
import { usePools, useSharedFleet } from "./use-pools.ts";

/** Maintenance of nodes, or that they are reserved for a project. */
export function CalendarForm({ onDone }: { onDone: () => Promise<void> }) {
  const [draft, setDraft] = useKept<CalendarDraft>("rt-calendar-new", NEW_ENTRY);
  const pools = usePools();
  const { nodes, projects } = useSharedFleet();
  const add = useAction(async () => {
    await ask("POST", "/api/calendar", { body: newEntry(draft) });
    setDraft(NEW_ENTRY);
    await onDone();
  });
  const write = (next: Partial<CalendarDraft>) => {
    add.forget();
    setDraft({ ...draft, ...next });
  };
  const { kind, project, pool, from, until, reason } = draft;
  return (
    <form
      aria-label="A new entry of the calendar"
      onSubmit={(event) => {
        event.preventDefault();
        add.run();
      }}
    >
      <Field label="What">
        <select
          value={kind}
          onChange={({ target }) => write({ kind: target.value as CalendarDraft["kind"] })}
        >
          <option value="maintenance">Maintenance: nothing starts there</option>
          <option value="reservation">Reserved for a project</option>
        </select>
      </Field>
      {kind === "maintenance" ? null : (
        <Field label="For project">
          <select
            required
            value={project}
            onChange={({ target }) => write({ project: target.value })}
          >
            <option value="">Choose one</option>
            {projects.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}, {one.id}
              </option>
            ))}
          </select>
        </Field>
      )}
      <Field label="Where">
        <select value={pool} onChange={({ target }) => write({ pool: target.value })}>
          <option value="">Some nodes</option>
          {pools.data?.map((one) => (
            <option key={one.id} value={one.id}>
              The pool {one.name}
            </option>
          ))}
        </select>
      </Field>
      {pool === "" ? (
        <NodesField
          nodes={nodes}
          chosen={draft.nodes}
          onChoose={(chosen) => write({ nodes: chosen })}
        />
      ) : null}
      <Field label="From">
        <input
          type="datetime-local"
          required
          value={from}
          onChange={({ target }) => write({ from: target.value })}
        />
      </Field>
      <Field label="Until">
        <input
          type="datetime-local"
          required
          value={until}
          onChange={({ target }) => write({ until: target.value })}
        />
      </Field>
      <Field label="Reason" hint="Told to whoever sees it.">
        <input
          maxLength={200}
          value={reason}
          onChange={({ target }) => write({ reason: target.value })}
        />
      </Field>
      {add.error === null ? null : <Failure error={add.error} />}
      <p>
        <Button
          type="submit"
          look="main"
          isDisabled={add.isBusy || (pool === "" && draft.nodes.length === 0)}
        >
          {kind === "maintenance" ? "Announce maintenance" : "Reserve"}
        </Button>
      </p>
    </form>
  );
}
