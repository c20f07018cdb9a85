import { useEffect, useState } from "react";
import styles from "./skeleton.module.css";

/** Whoever is answered sooner sees no flicker. */
const SHOW_AFTER_MS = 200;

export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div role="status" aria-label="Loading" className={styles["skeleton"]}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className={styles["row"]} />
      ))}
    </div>
  );
}
