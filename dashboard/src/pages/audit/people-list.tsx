import type { Names } from "./named-people.ts";

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
