import type { ReactNode } from "react";
import styles from "./opener.module.css";

/** Opens what stands below it in place, and closes it again. */
export function Opener({
  id,
  isOpen,
  title,
  onPress,
  children,
}: {
  id?: string;
  isOpen: boolean;
  title?: string;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      id={id}
      className={styles["opener"]}
      aria-expanded={isOpen}
      title={title}
      onClick={onPress}
    >
      {children}
    </button>
  );
}
