import { useId, useLayoutEffect, useRef } from "react";
import styles from "./submit.module.css";

const MOST_ROWS = 28;

/** A text with its line numbers. Tab leaves it, as it leaves every field. */
export function TextEditor({
  label,
  text,
  onChange,
}: {
  label: string;
  text: string;
  onChange: (text: string) => void;
}) {
  const id = useId();
  const numbers = useRef<HTMLPreElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const count = text.split("\n").length;
  const follow = () => {
    if (numbers.current !== null && area.current !== null)
      numbers.current.scrollTop = area.current.scrollTop;
  };
  // A line that came or went moves both.
  useLayoutEffect(follow, [count]);
  return (
    <div className={styles["editor"]}>
      <label htmlFor={id} className="unseen">
        {label}
      </label>
      <pre ref={numbers} aria-hidden="true" className={styles["numbers"]}>
        {Array.from({ length: count }, (_, at) => at + 1).join("\n")}
      </pre>
      <textarea
        ref={area}
        id={id}
        className={styles["text"]}
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        rows={Math.min(MOST_ROWS, Math.max(6, count + 1))}
        value={text}
        onChange={({ target }) => onChange(target.value)}
        onScroll={follow}
      />
    </div>
  );
}
