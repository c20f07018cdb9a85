import type { Requested } from "@resontech/contracts/http-approvals";
import { ask } from "../../api/ask.ts";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

/** Other Cedar policies for who may do what: a security officer answers. */
export function AskForPolicies({ onDone }: { onDone: () => Promise<unknown> }) {
  const [reason, setReason] = useKept("rt-policies-reason", "");
  const asking = useAction(async (chosen: readonly File[]) => {
    const files: Record<string, string> = {};
    for (const file of chosen) files[file.name] = await file.text();
    const what: Requested = { kind: "policy", files };
    await ask("POST", "/api/approvals", { body: { what, ...withReason(reason) } });
    setReason("");
    await onDone();
  });
  return (
    <Panel title="Ask for other policies">
      <p>
        All files of the set, as <code>appliance policy try</code> takes them. Try them there first:
        it says which of the last week's decisions would be others.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const files = new FormData(event.currentTarget)
            .getAll("policies")
            .filter((file) => file instanceof File);
          asking.run(files);
        }}
      >
        <Field label="Policies and schema">
          <input name="policies" type="file" multiple required />
        </Field>
        <AskedReason value={reason} onChange={setReason} />
        <div>
          <Button type="submit" isDisabled={asking.isBusy}>
            Ask for these policies
          </Button>
        </div>
      </form>
      {asking.error === null ? null : <Failure error={asking.error} />}
    </Panel>
  );
}
