import { type Ref } from "react";
import { Button } from "../../ui/button.tsx";
import type { Asked } from "./asked.ts";
import { askedWords } from "./asked-words.ts";
import type { Names } from "./named-people.ts";
import styles from "./audit.module.css";

/** What was asked, in one line above its answer, and the way back to the form. Whoever asked is led here. */
export function AskedHead({
  asked,
  names,
  found,
  heading,
  isFormOpen,
  onForm,
}: {
  asked: Asked;
  names: Names;
  /** How many entries; empty while nobody knows. */
  found: string;
  heading: Ref<HTMLHeadingElement>;
  isFormOpen: boolean;
  onForm: () => void;
}) {
  const { title, facts, period } = askedWords(asked, names);
  return (
    <div className={styles["answer"]}>
      <div className={styles["asked"]}>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button aria-expanded={isFormOpen} onPress={onForm}>
          {isFormOpen ? "Close the questions" : "Change the question"}
        </Button>
      </div>
      <p>
        {/* Always there, so that a change of it is read out. */}
        <strong role="status">{found}</strong>
        {found === "" ? null : " · "}
        {facts.map(({ label, value, id }) => (
          <span key={label}>
            {label} {id === null ? <code>{value}</code> : <strong>{value}</strong>}
            {id === null ? null : (
              <>
                {" "}
                <code>{id}</code>
              </>
            )}{" "}
            ·{" "}
          </span>
        ))}
        {period}
      </p>
    </div>
  );
}
