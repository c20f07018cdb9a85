import type { ReactNode } from "react";
import { asProblem } from "../api/problem.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon/icon.tsx";
import { Words } from "./words.tsx";
import styles from "./notice.module.css";

/** What is wrong: code, sentence, what to do, and how to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { code, message, hint, requestId } = asProblem(error);
  return (
    <div role="alert" className={`${styles["notice"]} ${styles["bad"]}`}>
      <p>
        <strong>{message}</strong>
      </p>
      <p>
        <Words text={hint} />
      </p>
      <p className={styles["small"]}>
        <code>{code}</code>
        {requestId === null ? null : (
          <>
            {" "}
            · request <code>{requestId}</code>
          </>
        )}
      </p>
      {retry === undefined ? null : <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

/** Nothing is there: what this is, and what to do first. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={`${styles["notice"]} ${styles["empty"]}`}>
      <Icon name="empty" />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Warning({ children }: { children: ReactNode }) {
  return (
    <div role="status" className={`${styles["notice"]} ${styles["wait"]}`}>
      {children}
    </div>
  );
}
