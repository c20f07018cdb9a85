import type { RequestedChange } from "@resontech/contracts/http-approvals";
import styles from "./approvals.module.css";

/** What would be different: each thing as it is now, and as it would be. */
export function Changes({ changes }: { changes: readonly RequestedChange[] }) {
  if (changes.length === 0) return null;
  return (
    <dl className={styles["changes"]}>
      {changes.map(({ what, before, after }) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd className={styles["before"]}>
            <span className={styles["side"]}>now</span>
            <span>{textOf(before)}</span>
          </dd>
          <dd className={styles["after"]}>
            <span className={styles["side"]}>then</span>
            <span>{textOf(after)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Nothing at all is another thing than an empty text. */
function textOf(side: string | null): string {
  if (side === null) return "none";
  return side === "" ? "no such lines" : side;
}
