/** Pure: which names more than one file exports. A reader who looks for a name must find one thing. */
const EXPORTED =
  /^export (?:async )?(?:abstract )?(?:function\*?|class|const|let|type|interface|enum) +([A-Za-z_$][\w$]*)/gm;

/** @param sources texts by their paths in this tree @returns each such name with its files, in order */
export function sharedNames(sources: Readonly<Record<string, string>>): Map<string, string[]> {
  const files = new Map<string, Set<string>>();
  for (const [file, text] of Object.entries(sources))
    for (const [, name] of text.matchAll(EXPORTED))
      files.set(name!, (files.get(name!) ?? new Set()).add(file));
  return new Map(
    [...files]
      .filter(([, of]) => of.size > 1)
      .map(([name, of]) => [name, [...of].sort()] as [string, string[]])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}
