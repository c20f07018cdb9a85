import type { Requested } from "@resontech/contracts/http-approvals";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { Asked } from "./asked.tsx";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";

const GB = 1_000_000_000;

/** Another quota of the project's bucket: an administrator answers. */
export function AskForRoom({ project }: { project: { id: string; name: string } }) {
  const [gigabytes, setGigabytes] = useKept(`rt-quota-${project.id}`, "");
  const [reason, setReason] = useKept(`rt-quota-reason-${project.id}`, "");
  const [isDone, setDone] = useState(false);
  const request = useAction(async () => {
    const bytes = Math.round(Number(gigabytes) * GB);
    const what: Requested = { kind: "quota", projectId: project.id, bytes };
    await ask("POST", "/api/approvals", { body: { what, ...withReason(reason) } });
    setGigabytes("");
    setReason("");
    setDone(true);
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setDone(false);
        request.run();
      }}
    >
      <Field label={`The bucket of ${project.name} is to hold, in GB`}>
        <input
          type="number"
          required
          min={0}
          max={1_000_000}
          step="any"
          value={gigabytes}
          onChange={({ target }) => setGigabytes(target.value)}
        />
      </Field>
      <AskedReason value={reason} onChange={setReason} />
      <p>
        <Button type="submit" isDisabled={request.isBusy}>
          Ask for this quota
        </Button>
      </p>
      <Asked error={request.error} isDone={isDone} />
    </form>
  );
}
