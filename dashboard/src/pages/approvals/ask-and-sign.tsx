import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { AskAboutPerson, FORMS } from "./ask-about-person.tsx";
import { askAndSign } from "./sign.ts";
import styles from "./approvals.module.css";

/** What takes signatures: exactly what the form says is signed. */
export function AskAndSign() {
  const mayTrust = useMay("policy.propose");
  return (
    <>
      {FORMS.map((form) => (
        <AskAboutPerson key={form.kind} form={form} />
      ))}
      {mayTrust ? <AskForPolicy /> : null}
    </>
  );
}

function AskForPolicy() {
  const asking = useAction(async (file: File) => {
    await askAndSign({ kind: "audit-policy", policy: await file.text() });
  });
  return (
    <Panel title="Ask for another trust policy of the audit log">
      <form
        id="audit-policy"
        className={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          const file = new FormData(event.currentTarget).get("policy");
          if (file instanceof File) asking.run(file);
        }}
      >
        <Field label="The whole policy, as a file">
          <input id="policy" name="policy" type="file" required />
        </Field>
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
