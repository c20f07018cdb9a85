import { useMay } from "../../api/session.ts";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, PanelGrid } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { AskAboutPerson, FORMS } from "./ask-about-person.tsx";
import { askAndSign } from "./sign.ts";

/** What takes signatures: exactly what the form says is signed. */
export function AskAndSign() {
  const mayTrust = useMay("policy.propose");
  return (
    <PanelGrid>
      {FORMS.map((form) => (
        <AskAboutPerson key={form.kind} form={form} />
      ))}
      {mayTrust ? <AskForPolicy /> : null}
    </PanelGrid>
  );
}

function AskForPolicy() {
  const [reason, setReason] = useKept("rt-audit-policy-reason", "");
  const asking = useAction(async (file: File) => {
    await askAndSign({ kind: "audit-policy", policy: await file.text() }, withReason(reason));
  });
  return (
    <Panel title="Ask for another trust policy of the audit log">
      <form
        id="audit-policy"
        onSubmit={(event) => {
          event.preventDefault();
          const file = new FormData(event.currentTarget).get("policy");
          if (file instanceof File) asking.run(file);
        }}
      >
        <Field label="The whole policy, as a file">
          <input id="policy" name="policy" type="file" required />
        </Field>
        <AskedReason value={reason} onChange={setReason} />
        <div>
          <Button type="submit" look="main" isDisabled={asking.isBusy}>
            Ask and sign
          </Button>
        </div>
      </form>
      {asking.error === null ? null : <Failure error={asking.error} />}
    </Panel>
  );
}
