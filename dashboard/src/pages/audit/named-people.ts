/**
 * People in the fields of a question: whoever asks writes a name, and the log is asked by pseudonym. Names are known here only once somebody has
 * asked for them with a reason. Pure.
 */
/** Names of people by their pseudonyms in the log. */
export type Names = ReadonlyMap<string, string>;

/** Of a person or a program: what stands in the log for them. */
const PSEUDONYM = /^[a-z]{1,3}_[0-9a-f]{8,64}$/;
/** Whom the log knows by a word of its own. */
const BY_A_WORD: ReadonlySet<string> = new Set(["anonymous", "appliance", "operator"]);

/** The pseudonym that somebody means who wrote a name. */
export function personOf(written: string, names: Names): string {
  const [found] = [...names].find(([, username]) => username === written) ?? [];
  return found ?? written;
}

/** What a field shows of a person: the name, where names are shown. */
export function shownPerson(id: string, names: Names): string {
  return names.get(id) ?? id;
}

/** A field's text after names were shown or hidden. */
export function renamedPerson(written: string, before: Names, after: Names): string {
  return shownPerson(personOf(written, before), after);
}

/** Whether the log can be asked about it. A name is no pseudonym: it would stand in the page's address, and in requests. */
export function isPseudonym(person: string): boolean {
  return PSEUDONYM.test(person) || BY_A_WORD.has(person);
}
