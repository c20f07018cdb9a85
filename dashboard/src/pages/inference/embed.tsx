import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import styles from "./call-it.module.css";
import { embedTexts, likeness } from "./embed-texts.ts";
import { heldKey } from "./held-keys.ts";
import { KeyField } from "./key-field.tsx";
import { embedSnippet } from "./snippets.ts";

/** Which of some texts are alike? */
export function Embed({ deployment }: { deployment: DeploymentReply }) {
  const [key, setKey] = useState(() => heldKey(deployment.id));
  const [draft, setDraft] = useState("");
  const [found, setFound] = useState<{ texts: string[]; vectors: number[][] } | null>(null);
  const texts = draft.split("\n").filter((text) => text.trim() !== "");
  const run = useAction(async () => {
    setFound({ texts, vectors: await embedTexts(deployment.id, key.trim(), texts) });
  });
  const snippet = embedSnippet(deployment.endpoint, texts.length === 0 ? ["Hello"] : texts);
  return (
    <>
      <Panel title="Compare texts">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run.run();
          }}
        >
          <KeyField value={key} onChange={setKey} />
          <Field
            label="Texts"
            hint="One in each line. The first is compared with the others."
            isWide
          >
            <textarea
              rows={4}
              required
              value={draft}
              onChange={({ target }) => setDraft(target.value)}
            />
          </Field>
          <p>
            <Button look="main" type="submit" isDisabled={run.isBusy || texts.length === 0}>
              Send
            </Button>
          </p>
        </form>
        {run.error === null ? null : <Failure error={run.error} />}
        {found === null ? null : (
          <>
            <p role="status">Each text became {found.vectors[0]?.length ?? 0} numbers.</p>
            <Table
              caption="Likeness to the first text"
              rows={found.texts.map((text, at) => ({
                text,
                alike: likeness(found.vectors[0]!, found.vectors[at]!),
                at,
              }))}
              keyOf={({ at }) => String(at)}
              columns={[
                { title: "Text", of: ({ text }) => text },
                {
                  title: "Likeness to the first (−1 to 1)",
                  of: ({ alike }) => alike.toFixed(3),
                  by: ({ alike }) => alike,
                  isNumber: true,
                },
              ]}
            />
          </>
        )}
      </Panel>
      <Panel title="The same call as code">
        <pre id="curl" className={styles["code"]} tabIndex={0}>
          {snippet}
        </pre>
        <Row>
          <Copy text={snippet} from="curl" label="Copy the code" />
        </Row>
      </Panel>
    </>
  );
}
