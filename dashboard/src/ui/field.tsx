import type { ReactNode } from "react";
import styles from "./field.module.css";

/** A label over its control, with what to write there. */
export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string;
  children: ReactNode;
}) {
  return (
    <label className={styles["field"]}>
      <span className={styles["label"]}>{label}</span>
      {children}
      {hint === undefined ? null : <span className={styles["hint"]}>{hint}</span>}
    </label>
  );
}
