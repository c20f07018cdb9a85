import styles from "./preview.module.css";

const MOST_CHILDREN = 200;

/** A value of JSON that opens level by level. */
export function JsonTree({
  value,
  name,
  isOpen = false,
}: {
  value: unknown;
  name?: string;
  isOpen?: boolean;
}) {
  const label = name === undefined ? null : <span className={styles["key"]}>{name}: </span>;
  if (typeof value !== "object" || value === null)
    return (
      <div className={styles["leaf"]}>
        {label}
        <code>{JSON.stringify(value)}</code>
      </div>
    );
  const entries = Object.entries(value);
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div className={styles["leaf"]}>
        {label}
        <code>{count}</code>
      </div>
    );
  return (
    <details className={styles["tree"]} open={isOpen}>
      <summary>
        {label}
        <code>{count}</code>
      </summary>
      {entries.slice(0, MOST_CHILDREN).map(([key, one]) => (
        <JsonTree key={key} name={key} value={one} />
      ))}
      {entries.length > MOST_CHILDREN ? (
        <div className={styles["leaf"]}>and {entries.length - MOST_CHILDREN} more</div>
      ) : null}
    </details>
  );
}
