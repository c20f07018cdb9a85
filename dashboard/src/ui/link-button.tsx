import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./button.module.css";

/** A way to another page that looks like the action that a page is for. */
export function LinkButton({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className={`${styles["button"]} ${styles["main"]} ${styles["link"]}`}>
      {children}
    </Link>
  );
}
