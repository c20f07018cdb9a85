import type { ReactNode } from "react";
import styles from "./field.module.css";

/** A label over its control, with what to write there. */
export function Field({
  label,
  hint,
  isWide = false,
  children,
}: {
  label: string;
  hint?: string;
  /** Takes a row of its own in a form: for long texts. */
  isWide?: boolean;
  children: ReactNode;
}) {
  return (
    <label className={styles[isWide ? "wide" : "field"]}>
      <span className={styles["label"]}>{label}</span>
      {children}
      {hint === undefined ? null : <span className={styles["hint"]}>{hint}</span>}
    </label>
  );
}
