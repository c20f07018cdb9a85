/** Forms by which somebody asks for what the vault does with a person's values behind the audit log. */
import type { Requested } from "@resontech/contracts/http-approvals";
import { useMay } from "../../api/session.ts";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { askAndSign } from "./sign.ts";

type Draft = Record<string, string>;
type AskedField = { name: string; id: string; label: string; placeholder?: string; most?: number };
/** @property kind of the request, and the form's id @property action that the caller must be allowed */
type Form = {
  kind: Requested["kind"];
  action: string;
  title: string;
  says: string;
  fields: readonly AskedField[];
  what: (draft: (name: string) => string) => Requested;
};

const PSEUDONYM = { label: "Pseudonym in the audit log", placeholder: "u_…" };
const HOLD_NAME = { name: "hold", label: "Name of the hold in your files" };

export const FORMS: readonly Form[] = [
  {
    kind: "erasure",
    action: "erasure.request",
    title: "Ask for an erasure",
    says: "What opens the person's values is destroyed. A second person must agree.",
    fields: [
      { name: "subject", id: "subject", ...PSEUDONYM },
      { name: "request", id: "request", label: "Name of the person's request in your files" },
      { name: "legalBasis", id: "legal-basis", label: "Legal basis", placeholder: "gdpr-17" },
    ],
    what: (draft) => ({
      ...{ kind: "erasure", subject: draft("subject") },
      ...{ request: draft("request"), legalBasis: draft("legalBasis") },
    }),
  },
  {
    kind: "hold",
    action: "hold.set",
    title: "Set a legal hold",
    says: "While it stands nothing of the person is erased. Your signature is enough.",
    fields: [
      { name: "subject", id: "hold-subject", ...PSEUDONYM },
      { id: "hold-name", ...HOLD_NAME },
    ],
    what: (draft) => ({ kind: "hold", subject: draft("subject"), hold: draft("hold") }),
  },
  {
    kind: "lift",
    action: "lift.request",
    title: "Ask for the end of a legal hold",
    says: "From then on the person's values can be erased. A second person must agree.",
    fields: [
      { name: "subject", id: "lift-subject", ...PSEUDONYM },
      { id: "lift-name", ...HOLD_NAME },
    ],
    what: (draft) => ({ kind: "lift", subject: draft("subject"), hold: draft("hold") }),
  },
  {
    kind: "disclosure",
    action: "disclosure.request",
    title: "Ask for a disclosure",
    says: "An export opens what these people's entries hold. A second person must agree.",
    fields: [
      {
        ...{ name: "subjects", id: "disclosure-subjects", most: 4_000 },
        ...{ label: "Pseudonyms in the audit log, with spaces between", placeholder: "u_… u_…" },
      },
      { name: "shard", id: "disclosure-shard", label: "Shard of the log", placeholder: "2026" },
      { name: "receiver", id: "disclosure-receiver", label: "Who gets the file" },
    ],
    what: (draft) => ({
      ...{ kind: "disclosure", shard: draft("shard"), receiver: draft("receiver") },
      subjects: draft("subjects").split(/\s+/),
    }),
  },
];

/** Nothing for whoever may not ask for it. */
export function AskAboutPerson({ form }: { form: Form }) {
  const { kind, title, says, fields, what } = form;
  const [draft, setDraft] = useKept<Draft>(`rt-${kind}`, {});
  const mayAsk = useMay(form.action);
  const asking = useAction(async () => {
    await askAndSign(
      what((name) => (draft[name] ?? "").trim()),
      withReason(draft["reason"] ?? ""),
    );
    setDraft({});
  });
  if (!mayAsk) return null;
  return (
    <Panel title={title}>
      <p>{says}</p>
      <form
        id={kind}
        onSubmit={(event) => {
          event.preventDefault();
          asking.run();
        }}
      >
        {fields.map(({ name, id, label, placeholder, most = 64 }) => (
          <Field key={id} label={label}>
            <input
              id={id}
              required
              maxLength={most}
              autoComplete="off"
              placeholder={placeholder}
              value={draft[name] ?? ""}
              onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
            />
          </Field>
        ))}
        <AskedReason
          value={draft["reason"] ?? ""}
          onChange={(reason) => setDraft({ ...draft, reason })}
        />
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
