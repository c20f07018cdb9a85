import { type ReactNode, useId } from "react";
import styles from "./panel.module.css";

/** A part of a page with a heading of its own. */
export function Panel({
  title,
  id,
  children,
}: {
  title: string;
  id?: string;
  children: ReactNode;
}) {
  const heading = useId();
  return (
    <section className={styles["panel"]} id={id} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
    </section>
  );
}

/** Names and values, one under the other. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode, string?])[] }) {
  return (
    <dl className={styles["facts"]}>
      {facts.map(([name, value, id]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd id={id}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Row({ children }: { children: ReactNode }) {
  return <div className={styles["row"]}>{children}</div>;
}
