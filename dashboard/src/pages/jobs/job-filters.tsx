import { JOB_STATES, type JobState } from "@resontech/contracts/job-states";
import { ALL_JOB_WORDS, queryWord, statesOf } from "@resontech/contracts/state-words";
import { useEffect, useState } from "react";
import { useSearchParams } from "wouter";
import styles from "./jobs-page.module.css";

const FILTERS: readonly { title: string; value: string; states: readonly JobState[] }[] = [
  { title: "All", value: "", states: JOB_STATES },
  ...ALL_JOB_WORDS.map((word) => ({
    title: word[0]!.toUpperCase() + word.slice(1),
    value: queryWord(word),
    states: statesOf(word),
  })),
];
const TYPED_MS = 250;

/** What is in the address is what is shown: a view is kept and sent as a link. */
export function JobFilters({
  totals,
  projects,
}: {
  totals: Partial<Record<JobState, number>>;
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
  const chosen = search.get("state") ?? "";
  return (
    <div className={styles["filters"]}>
      <div role="group" aria-label="State" className={styles["groups"]}>
        {FILTERS.map(({ title, value, states }) => {
          const counted = states.reduce((sum, state) => sum + (totals[state] ?? 0), 0);
          return (
            <button
              key={title}
              type="button"
              aria-pressed={chosen.split(",").includes(value)}
              className={styles["group"]}
              onClick={() => set("state", value)}
            >
              {title} <span className={styles["count"]}>{counted}</span>
            </button>
          );
        })}
      </div>
      <label>
        <span className="unseen">Name or id</span>
        <input
          type="search"
          placeholder="Name or id"
          value={text}
          maxLength={200}
          className={styles["input"]}
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
    </div>
  );
}
