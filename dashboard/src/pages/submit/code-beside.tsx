import { useId, useState } from "react";
import { Copy } from "../../ui/copy.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import { Views } from "../../ui/views.tsx";
import type { SameInCode } from "./same-in-code.ts";
import styles from "./submit.module.css";

/** What the form says, for a shell and for Python: both follow its fields. */
export function CodeBeside({ code, about }: { code: SameInCode; about?: string }) {
  const [language, setLanguage] = useState("shell");
  return (
    <Panel title="The same in code">
      {about === undefined ? null : <p>{about}</p>}
      <Views
        label="Language"
        selected={language}
        onSelect={setLanguage}
        views={[
          ["shell", "Shell", <Code text={code.shell} label="Copy the command" />],
          ["python", "Python", <Code text={code.python} label="Copy the program" />],
        ]}
      />
    </Panel>
  );
}

function Code({ text, label }: { text: string; label: string }) {
  const id = useId();
  return (
    <>
      <pre id={id} tabIndex={0} className={styles["code"]}>
        {text}
      </pre>
      <Row>
        <Copy text={text} from={id} label={label} look="quiet" />
      </Row>
    </>
  );
}
