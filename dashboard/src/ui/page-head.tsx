import type { ReactNode } from "react";
import { State } from "./state.tsx";
import type { StateWord } from "./state-word.ts";
import { useTab } from "./tab.ts";
import styles from "./page-head.module.css";

/** What a page is of, how that is, and what can be done; the browser's tab says the first two. */
export function PageHead({
  title,
  about,
  state,
  above,
  actions,
  children,
}: {
  title: string;
  /** What the tab says in place of the title. */
  about?: string;
  state?: StateWord;
  /** The way here. */
  above?: ReactNode;
  actions?: ReactNode;
  /** One sentence. */
  children?: ReactNode;
}) {
  useTab(about ?? title, state);
  return (
    <div className={styles["head"]}>
      {above === undefined ? null : <div className={styles["above"]}>{above}</div>}
      <div className={styles["line"]}>
        <h1>{title}</h1>
        {state === undefined ? null : <State of={state} isBadge />}
        {actions === undefined ? null : <div className={styles["actions"]}>{actions}</div>}
      </div>
      {children === undefined ? null : <p className={styles["sentence"]}>{children}</p>}
    </div>
  );
}
