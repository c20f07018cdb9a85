import { type ReactNode, useId } from "react";
import styles from "./panel.module.css";

/** A part of a page with a heading of its own. */
export function Panel({
  title,
  id,
  aside,
  children,
}: {
  title: string;
  id?: string;
  /** Beside the heading: a link to all, or of when this is. */
  aside?: ReactNode;
  children: ReactNode;
}) {
  const heading = useId();
  return (
    <section className={styles["panel"]} id={id} aria-labelledby={heading}>
      <div className={styles["title"]}>
        <h2 id={heading}>{title}</h2>
        {aside === undefined ? null : <span className={styles["aside"]}>{aside}</span>}
      </div>
      {children}
    </section>
  );
}

/** Panels beside one another where there is room. */
export function PanelGrid({ children }: { children: ReactNode }) {
  return <div className={styles["grid"]}>{children}</div>;
}

/** Panels that share one place of a grid, one below the other. */
export function PanelStack({ children }: { children: ReactNode }) {
  return <div className={styles["stack"]}>{children}</div>;
}

/** Names and values, one under the other; figures stand beside one another. */
export function Facts({
  facts,
  areFigures = false,
}: {
  facts: readonly (readonly [string, ReactNode, string?])[];
  areFigures?: boolean;
}) {
  return (
    <dl className={styles[areFigures ? "figures" : "facts"]}>
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
