import { personOf, type Names } from "./named-people.ts";

/** What stands below a field of a person: the pseudonym of whoever is written there, by which the log is asked. @param hint while names are not shown */
export function personHint(written: string | undefined, names: Names, hint: string): string {
  if (names.size === 0) return hint;
  const id = personOf(written?.trim() ?? "", names);
  return names.has(id) ? `in the log: ${id}` : "a name or a pseudonym";
}

/** Why nothing was asked. */
export function UnknownName({ areShown }: { areShown: boolean }) {
  return (
    <p role="alert">
      {areShown
        ? "Nobody has this name. Choose somebody of the list, or write a pseudonym such as u_4f…"
        : "The log knows people by pseudonyms, and no name was sent. Show names with a reason and choose one, or write a pseudonym such as u_4f…"}
    </p>
  );
}
