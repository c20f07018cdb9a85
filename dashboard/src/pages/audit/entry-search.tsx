import { EVENT_CHOICES } from "@resontech/contracts/audit-sentences";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { type Asked, type EntryFilter, FILTERS } from "./asked.ts";
import type { Names } from "./names.tsx";
import { PeopleList, personOf } from "./people-list.tsx";
import styles from "./audit.module.css";

const LABELS: Record<EntryFilter, [label: string, hint: string]> = {
  type: ["Kind of event", "such as job.submit: write, and choose"],
  concerns: ["About whom", "a person's pseudonym: whose rights changed, who asked, who agreed"],
  approval: ["Approval", "a request's id: the request, its answer, its effect"],
  actor: ["Who", "a pseudonym, a key, a node"],
  object: ["To what", "an id"],
  objectsOf: ["Who touched job", "a job's id: entries of its objects, logs and rounds"],
  outcome: ["Outcome", "ok, refused, or a code"],
  op: ["Operation", "its id: how it began, and how it ended"],
  holds: ["Holds", "pii.username=anna, src.addr=10.0.0.7"],
  below: ["Objects below", "a folder: bucket/jobs/study/"],
  from: ["Not before", "2026-01-31, 2026-01-31 08:00, yesterday, 7d"],
  to: ["Before", "the same forms; a day counts whole"],
};
const OF_PEOPLE: ReadonlySet<EntryFilter> = new Set(["concerns", "actor"]);

/** A search by fields, for what no question asks. */
export function EntrySearch({
  asked,
  names,
  onSearch,
}: {
  asked: Asked;
  names: Names;
  onSearch: (wanted: Record<string, string>) => void;
}) {
  const [seen, setSeen] = useState(asked.at);
  const [wanted, setWanted] = useState(filtersOf(asked));
  // The address was changed by something else: a link, or the way back.
  if (seen !== asked.at) {
    setSeen(asked.at);
    setWanted(filtersOf(asked));
  }
  const filled = FILTERS.flatMap((name): [string, string][] => {
    const value = wanted[name]?.trim() ?? "";
    if (value === "") return [];
    return [[name, OF_PEOPLE.has(name) ? personOf(value, names) : value]];
  });
  return (
    <form
      className={styles["search"]}
      aria-label="Search for entries"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(Object.fromEntries(filled));
      }}
    >
      {FILTERS.map((name) => {
        const [label, hint] = LABELS[name];
        return (
          <Field key={name} label={label} hint={hint}>
            <input
              maxLength={1_000}
              autoComplete="off"
              list={
                name === "type"
                  ? "audit-types"
                  : OF_PEOPLE.has(name)
                    ? "audit-search-people"
                    : undefined
              }
              value={wanted[name] ?? ""}
              onChange={({ target }) => setWanted({ ...wanted, [name]: target.value })}
            />
          </Field>
        );
      })}
      <div className={styles["go"]}>
        <Button look="main" type="submit">
          Search
        </Button>
      </div>
      <datalist id="audit-types">
        {EVENT_CHOICES.map(([type, sentence]) => (
          <option key={type} value={type}>
            {sentence}
          </option>
        ))}
      </datalist>
      <PeopleList id="audit-search-people" names={names} />
    </form>
  );
}

function filtersOf({ question, about }: Asked): Partial<Record<EntryFilter, string>> {
  return question === null ? about : {};
}
