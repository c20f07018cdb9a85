import { Link } from "wouter";
import styles from "./storage.module.css";

/** The way from the bucket to the folder that is shown. */
export function Crumbs({ project, prefix }: { project: string; prefix: string }) {
  const parts = prefix.split("/").filter((part) => part !== "");
  return (
    <nav aria-label="Folder" className={styles["crumbs"]}>
      <Link href={`/storage?project=${project}`}>the bucket</Link>
      {parts.map((part, at) => {
        const to = `${parts.slice(0, at + 1).join("/")}/`;
        return (
          <span key={to}>
            {" / "}
            {at === parts.length - 1 ? (
              <span aria-current="page">{part}</span>
            ) : (
              <Link href={`/storage?project=${project}&at=${encodeURIComponent(to)}`}>{part}</Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}
