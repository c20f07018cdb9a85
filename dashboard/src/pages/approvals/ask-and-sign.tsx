import type { ApprovalReply, Requested } from "@resontech/contracts/http-approvals";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { sign } from "./sign.ts";
import styles from "./approvals.module.css";

/** Asked for and not yet signed: it is signed at once. */
async function request(what: Requested): Promise<void> {
  const made = await ask<ApprovalReply>("POST", "/api/approvals", { body: { what } });
  await sign(made.id, "request", made.singlePerson ? { approve: made.id } : { signed: made.id });
}

/** What takes two signatures: exactly what the form says is signed. */
export function AskAndSign() {
  const mayErase = useMay("erasure.request");
  const mayTrust = useMay("policy.propose");
  return (
    <>
      {mayErase ? <AskForErasure /> : null}
      {mayTrust ? <AskForPolicy /> : null}
    </>
  );
}

const FIRST = { subject: "", request: "", legalBasis: "" };

function AskForErasure() {
  const [wish, setWish] = useKept("rt-erasure", FIRST);
  const asking = useAction(async () => {
    await request({ kind: "erasure", ...wish });
    setWish(FIRST);
  });
  const field = (name: keyof typeof FIRST, id: string, placeholder?: string) => ({
    ...{ id, required: true, maxLength: 64, autoComplete: "off", placeholder },
    value: wish[name],
    onChange: ({ target }: { target: { value: string } }) =>
      setWish({ ...wish, [name]: target.value }),
  });
  return (
    <Panel title="Ask for an erasure">
      <form
        id="erasure"
        className={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          asking.run();
        }}
      >
        <Field label="Pseudonym in the audit log">
          <input {...field("subject", "subject", "u_…")} />
        </Field>
        <Field label="Name of the person's request in your files">
          <input {...field("request", "request")} />
        </Field>
        <Field label="Legal basis">
          <input {...field("legalBasis", "legal-basis", "gdpr-17")} />
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

function AskForPolicy() {
  const asking = useAction(async (file: File) => {
    await request({ kind: "audit-policy", policy: await file.text() });
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
