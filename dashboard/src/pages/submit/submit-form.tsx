import { type ReactNode, useId } from "react";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { CodeBeside } from "./code-beside.tsx";
import { SubmissionState } from "./submission-state.tsx";
import type { SameInCode } from "./same-in-code.ts";
import type { Submission } from "./use-submission.ts";
import styles from "./submit.module.css";

/** A form with its button, and the same as code beside it. */
export function SubmitForm({
  title,
  about,
  action,
  failed,
  submission,
  isReady = true,
  code,
  aboutCode,
  texts,
  children,
}: {
  title: string;
  about: ReactNode;
  /** What the button says. */
  action: string;
  /** What is said when it did not succeed. */
  failed: string;
  submission: Submission;
  isReady?: boolean;
  code: SameInCode;
  aboutCode?: string;
  /** What is written below the fields. */
  texts?: ReactNode;
  /** Fields. */
  children: ReactNode;
}) {
  const id = useId();
  return (
    <div className={styles["beside"]}>
      <div className={styles["stack"]}>
        <Panel title={title}>
          <p>{about}</p>
          <form
            id={id}
            onSubmit={(event) => {
              event.preventDefault();
              submission.run();
            }}
          >
            {children}
          </form>
          {texts}
          <div>
            <Button look="main" type="submit" form={id} isDisabled={submission.isBusy || !isReady}>
              {action}
            </Button>
          </div>
          <SubmissionState submission={submission} failed={failed} />
        </Panel>
      </div>
      <CodeBeside code={code} {...(aboutCode === undefined ? {} : { about: aboutCode })} />
    </div>
  );
}
