/** Some wheels put their whole licence text into the field. */
const LONGEST_NAME = 120;

/**
 * The licence that a wheel's METADATA states: its expression, else its classifiers, else the first line of its field; `not stated` where it
 * has none: https://packaging.python.org/en/latest/specifications/core-metadata/
 */
export function licenceOf(metadata: string): string {
  const head = metadata.split("\n\n", 1)[0] ?? "";
  const all = (field: string): string[] =>
    [...head.matchAll(new RegExp(`^${field}: (.*)$`, "gm"))].map((found) => found[1] ?? "");
  const [expression] = all("License-Expression");
  if (expression !== undefined) return expression;
  const classified = all("Classifier")
    .filter((line) => line.startsWith("License :: "))
    .map((line) => line.split(" :: ").at(-1) ?? "")
    .filter((name) => name !== "OSI Approved");
  if (classified.length > 0) return classified.join(", ");
  const firstLine = all("License")[0]?.trim() ?? "";
  return firstLine === "" ? "not stated" : firstLine.slice(0, LONGEST_NAME);
}
