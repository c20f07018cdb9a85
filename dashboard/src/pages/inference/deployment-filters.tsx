import { useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import styles from "../jobs/jobs-page.module.css";

const TYPED_MS = 250;

/** What is in the address is what is shown: a view is sent as a link. */
export function DeploymentFilters({
  projects,
}: {
  projects: readonly { id: string; name: string }[];
}) {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("text") ?? "";
  const [text, setText] = useState(asked);
  const [last, setLast] = useState(asked);
  // A link to another view is followed; what is typed is ahead of the address for a moment.
  if (asked !== last) {
    setLast(asked);
    setText(asked);
  }
  const set = (name: string, value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  useEffect(() => {
    if (text === asked) return;
    const timer = setTimeout(() => set("text", text), TYPED_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className={styles["filters"]}>
      <label>
        <span className="unseen">Name or id</span>
        <input
          type="search"
          placeholder="Name or id"
          maxLength={200}
          className={styles["input"]}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      {projects.length < 2 ? null : (
        <label>
          <span className="unseen">Project</span>
          <select
            value={search.get("project") ?? ""}
            className={styles["input"]}
            onChange={({ target }) => set("project", target.value)}
          >
            <option value="">All projects</option>
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <input
          type="checkbox"
          checked={search.get("ended") === "shown"}
          onChange={({ target }) => set("ended", target.checked ? "shown" : "")}
        />{" "}
        Also those that have ended
      </label>
    </div>
  );
}
