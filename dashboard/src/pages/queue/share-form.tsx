import type { Requested } from "@resontech/contracts/http-approvals";
import type { StandingShareReply } from "@resontech/contracts/http-shares";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { draftedChange, differencesOf, shareDraftOf, type ShareDraft } from "./share-draft.ts";
import styles from "./queue.module.css";

/** Another guarantee, limit or weight. What takes workers from a guarantee is asked of a second person. */
export function ShareForm({
  share,
  models,
  onSet,
}: {
  share: StandingShareReply & { id: string };
  models: readonly string[];
  onSet: () => Promise<void>;
}) {
  // A second factor may be asked for in between: what was written is there afterwards. Null: as the share is.
  const [written, setWritten] = useKept<ShareDraft | null>(`rt-share-${share.id}`, null);
  const [reason, setReason] = useKept(`rt-share-reason-${share.id}`, "");
  const [needsSecond, setNeedsSecond] = useKept(`rt-share-second-${share.id}`, false);
  const [asked, setAsked] = useState<string | null>(null);
  const draft = written ?? shareDraftOf(share);
  const change = draftedChange(share, draft);
  const differences = differencesOf(share, change);
  const forget = () => {
    setWritten(null);
    setReason("");
    setNeedsSecond(false);
  };
  const set = useAction(async () => {
    try {
      await ask("PUT", "/api/shares/{id}", { params: { id: share.id }, body: change });
    } catch (refused) {
      if (asProblem(refused).code !== "approval_required") throw refused;
      return setNeedsSecond(true);
    }
    forget();
    await onSet();
  });
  const request = useAction(async () => {
    const what: Requested = { kind: "share", share: share.id, ...change };
    const made = await ask("POST", "/api/approvals", { body: { what, ...withReason(reason) } });
    forget();
    // Nobody else could answer: it is done.
    if (made.state === "approved") return await onSet();
    setAsked(made.id);
  });
  const shown = [...new Set([...models, ...Object.keys({ ...share.guarantee, ...share.limit })])];
  const write = (next: ShareDraft) => {
    set.forget();
    request.forget();
    setNeedsSecond(false);
    setAsked(null);
    setWritten(next);
  };
  return (
    <form
      aria-label={`Share of ${share.name}, ${share.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (needsSecond) request.run();
        else set.run();
      }}
    >
      {shown.flatMap((model) =>
        (["guarantee", "limit"] as const).map((of) => (
          <Field
            key={`${of} ${model}`}
            label={of === "guarantee" ? `Guarantee of ${model}` : `At most of ${model}`}
          >
            <input
              type="number"
              min={0}
              max={1_000_000}
              step={1}
              placeholder="none"
              value={draft[of][model] ?? ""}
              onChange={({ target }) =>
                write({ ...draft, [of]: { ...draft[of], [model]: target.value } })
              }
            />
          </Field>
        )),
      )}
      <Field label="Weight" hint="What is lent goes by weight. 1 at first.">
        <input
          type="number"
          required
          min={0.01}
          max={1_000}
          step="any"
          value={draft.weight}
          onChange={({ target }) => write({ ...draft, weight: target.value })}
        />
      </Field>
      <PersonLimitField
        label="Most workers of one person"
        value={draft.personRunning}
        onChange={(personRunning) => write({ ...draft, personRunning })}
      />
      <PersonLimitField
        label="Most waiting jobs of one person"
        value={draft.personQueued}
        onChange={(personQueued) => write({ ...draft, personQueued })}
      />
      <PersonLimitField
        label="Idle minutes of interactive jobs"
        hint="A job that uses nothing for so long is warned, and ended ten minutes later. Empty: 60, or as a share above says."
        value={draft.interactiveIdleMinutes}
        onChange={(interactiveIdleMinutes) => write({ ...draft, interactiveIdleMinutes })}
      />
      {differences.length === 0 ? null : (
        <ul className={styles["differences"]} aria-label="What changes">
          {differences.map(({ what, before, after }) => (
            <li key={what}>
              {what}: {before} → <strong>{after}</strong>
            </li>
          ))}
        </ul>
      )}
      {needsSecond ? (
        <>
          <p role="alert">
            This takes workers from what somebody is sure of. A security officer has to agree.
          </p>
          <AskedReason value={reason} onChange={setReason} />
        </>
      ) : null}
      {set.error === null ? null : <Failure error={set.error} />}
      {request.error === null ? null : <Failure error={request.error} />}
      {asked === null ? (
        <p>
          <Button
            type="submit"
            look="main"
            isDisabled={differences.length === 0 || set.isBusy || request.isBusy}
          >
            {needsSecond ? "Ask a second person" : "Set the share"}
          </Button>
        </p>
      ) : (
        <p role="status">
          Asked for as <Link href="/approvals">{asked}</Link>. The share stays as it is until a
          security officer agrees.
        </p>
      )}
    </form>
  );
}

function PersonLimitField({
  label,
  hint = "Below this share. Empty: any number.",
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      <input
        type="number"
        min={1}
        max={1_000_000}
        step={1}
        placeholder="none"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}
