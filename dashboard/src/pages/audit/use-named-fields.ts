import { useState } from "react";
import type { Asked } from "./asked.ts";
import { OF_PEOPLE } from "./asked-words.ts";
import { renamedPerson, shownPerson, type Names } from "./named-people.ts";

type Fields = Readonly<Record<string, string>>;

/** Fields as they are typed. What the address asks for comes back into them, people by name where names are shown. */
export function useNamedFields(
  asked: Asked,
  fieldsOf: (asked: Asked) => Fields,
  names: Names,
): [fields: Fields, setFields: (fields: Fields) => void] {
  const ofPeople = (fields: Fields, shown: (person: string) => string): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        OF_PEOPLE.has(name) ? shown(value) : value,
      ]),
    );
  const begin = () => ofPeople(fieldsOf(asked), (person) => shownPerson(person, names));
  const [fields, setFields] = useState(begin);
  const [seen, setSeen] = useState({ at: asked.at, names });
  // The address was changed by something else: a link, or the way back.
  if (seen.at !== asked.at) {
    setSeen({ at: asked.at, names });
    setFields(begin());
  } else if (seen.names !== names) {
    setSeen({ at: asked.at, names });
    setFields(ofPeople(fields, (person) => renamedPerson(person, seen.names, names)));
  }
  return [fields, setFields];
}
