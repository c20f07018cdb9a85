import type { PoolReply } from "@resontech/contracts/http-pools";
import { JOB_CLASSES } from "@resontech/contracts/http-queue";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { NodesField } from "./nodes-field.tsx";
import { changedPool, newPool, type PoolDraft, poolDraftOf } from "./pool-draft.ts";

/** A pool that is not there yet, or the rules and nodes of one that is. */
export function PoolForm({
  pool,
  projects,
  nodes,
  onDone,
}: {
  pool: PoolReply | null;
  projects: readonly { id: string; name: string }[];
  /** Its own, and those that are in no pool. */
  nodes: readonly string[];
  onDone: () => Promise<void>;
}) {
  const [written, setWritten] = useKept<PoolDraft | null>(`rt-pool-${pool?.id ?? "new"}`, null);
  // What an older page kept lacks the later fields.
  const draft = { ...poolDraftOf(pool), ...written };
  const { kind, name, project, lends, minutes, most, models, cache } = draft;
  const change = pool === null ? null : changedPool(pool, draft);
  const save = useAction(async () => {
    if (pool === null) await ask("POST", "/api/pools", { body: newPool(draft) });
    else await ask("PUT", "/api/pools/{id}", { params: { id: pool.id }, body: change! });
    setWritten(null);
    await onDone();
  });
  const write = (next: Partial<PoolDraft>) => {
    save.forget();
    setWritten({ ...draft, ...next });
  };
  return (
    <form
      aria-label={pool === null ? "A new pool" : `Pool ${pool.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      {pool === null ? (
        <>
          <Field label="Name" hint="Small letters, digits and hyphens. It stays.">
            <input
              required
              pattern="[a-z0-9][a-z0-9\-]{0,40}"
              value={name}
              onChange={({ target }) => write({ name: target.value })}
            />
          </Field>
          <Field label="Kind">
            <select
              value={kind}
              onChange={({ target }) => write({ kind: target.value as PoolDraft["kind"] })}
            >
              <option value="shared">Shared: everybody&apos;s</option>
              <option value="managed">Managed: one project&apos;s, may lend</option>
              <option value="private">Private: one project&apos;s alone</option>
            </select>
          </Field>
          {kind === "shared" ? null : (
            <Field label="Project">
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
        </>
      ) : null}
      <Field
        label="Longest time limit in minutes"
        hint="Longer jobs, and those without one, stay out."
      >
        <input
          type="number"
          min={1}
          max={525_600}
          placeholder="any"
          value={minutes}
          onChange={({ target }) => write({ minutes: target.value })}
        />
      </Field>
      <Field label="Classes" hint="None chosen: all. Several with Ctrl or Shift.">
        <select
          multiple
          size={JOB_CLASSES.length}
          value={draft.classes}
          onChange={({ target }) =>
            write({ classes: [...target.selectedOptions].map(({ value }) => value) })
          }
        >
          {JOB_CLASSES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </Field>
      <Field
        label="Most workers of one project"
        hint="Over it jobs wait. One that alone is more is refused."
      >
        <input
          type="number"
          min={1}
          max={1_000_000}
          placeholder="any number"
          value={most}
          onChange={({ target }) => write({ most: target.value })}
        />
      </Field>
      <Field
        label="Workers that it expects"
        hint="Models, or parts of devices as h100-mig-1g.10gb, with commas. A node that shows others is named."
      >
        <input
          maxLength={600}
          placeholder="any"
          value={models}
          onChange={({ target }) => write({ models: target.value })}
        />
      </Field>
      {kind === "shared" ? null : (
        <Field
          label="Inputs that each node keeps, in GB"
          hint="Later jobs of the project there don't download them again."
        >
          <input
            type="number"
            min={0.01}
            step="any"
            placeholder="none"
            value={cache}
            onChange={({ target }) => write({ cache: target.value })}
          />
        </Field>
      )}
      {kind === "managed" ? (
        <Field label="Idle nodes" hint="Whoever borrows makes way once the project asks.">
          <select
            value={lends ? "lent" : "kept"}
            onChange={({ target }) => write({ lends: target.value === "lent" })}
          >
            <option value="kept">are kept</option>
            <option value="lent">are lent</option>
          </select>
        </Field>
      ) : null}
      <NodesField
        nodes={nodes}
        chosen={draft.nodes}
        onChoose={(chosen) => write({ nodes: chosen })}
      />
      {save.error === null ? null : <Failure error={save.error} />}
      <p>
        <Button
          type="submit"
          look="main"
          isDisabled={save.isBusy || (change !== null && Object.keys(change).length === 0)}
        >
          {pool === null ? "Make the pool" : "Change the pool"}
        </Button>
      </p>
    </form>
  );
}
