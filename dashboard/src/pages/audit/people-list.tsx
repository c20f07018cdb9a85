import type { Names } from "./names.tsx";

/** Choices for a field of a person: nothing while names are not shown. */
export function PeopleList({ id, names }: { id: string; names: Names }) {
  return (
    <datalist id={id}>
      {[...names].map(([userId, username]) => (
        <option key={userId} value={username}>
          {userId}
        </option>
      ))}
    </datalist>
  );
}

/** The pseudonym that somebody means who wrote a name. */
export function personOf(written: string, names: Names): string {
  const [found] = [...names].find(([, username]) => username === written) ?? [];
  return found ?? written;
}
