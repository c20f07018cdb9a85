import { type IconName, LUCIDE } from "./lucide/lucide.ts";
import styles from "./icon.module.css";

/** A drawing beside a word that says the same; alone it tells nobody anything. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className={styles["icon"]}>
      <path d={LUCIDE[name]} />
    </svg>
  );
}
