import { EVENT_CHOICES } from "@resontech/contracts/audit-sentences";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { type Asked, type EntryFilter, FILTERS } from "./asked.ts";
import { FILTER_LABELS, OF_PEOPLE } from "./asked-words.ts";
import { isPseudonym, personOf, type Names } from "./named-people.ts";
import { PeopleList } from "./people-list.tsx";
import { personHint, UnknownName } from "./person-words.tsx";
import { useNamedFields } from "./use-named-fields.ts";
import styles from "./audit.module.css";

const HINTS: Record<EntryFilter, string> = {
  type: "such as job.submit: write, and choose",
  concerns: "a person's pseudonym: whose rights changed, who asked, who agreed",
  approval: "a request's id: the request, its answer, its effect",
  actor: "a pseudonym, a key, a node",
  object: "an id",
  objectsOf: "a job's id: entries of its objects, logs and rounds",
  outcome: "ok, refused, or a code",
  op: "its id: how it began, and how it ended",
  holds: "pii.username=anna, src.addr=10.0.0.7",
  below: "a folder: bucket/jobs/study/",
  from: "2026-01-31, 2026-01-31 08:00, yesterday, 7d",
  to: "the same forms; a day counts whole",
};

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
  const [wanted, setWanted] = useNamedFields(asked, filtersOf, names);
  const [isUnknown, setUnknown] = useState(false);
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
        // Of whoever acts nobody can tell a name from that of a node.
        const isName = filled.some(([name, value]) => name === "concerns" && !isPseudonym(value));
        setUnknown(isName);
        if (!isName) onSearch(Object.fromEntries(filled));
      }}
    >
      {FILTERS.map((name) => {
        const hint = HINTS[name];
        return (
          <Field
            key={name}
            label={FILTER_LABELS[name]}
            hint={OF_PEOPLE.has(name) ? personHint(wanted[name], names, hint) : hint}
          >
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
      {isUnknown ? <UnknownName areShown={names.size > 0} /> : null}
    </form>
  );
}

function filtersOf({ question, about }: Asked): Asked["about"] {
  return question === null ? about : {};
}
