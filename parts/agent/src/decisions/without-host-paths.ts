/** What a person may read of an error of ours: file names, not where the node keeps its things. Pure. */

/** Each path below one of the roots becomes its last name. */
export function withoutHostPaths(text: string, roots: readonly string[]): string {
  return roots
    .filter((root) => root.length > 1)
    .toSorted((a, b) => b.length - a.length)
    .reduce((kept, root) => {
      const path = new RegExp(`${escaped(root.replace(/\/$/, ""))}((?:/[^\\s'"\`:,;()]*)?)`, "g");
      return kept.replace(
        path,
        (_, below: string) =>
          below.split("/").findLast((name) => name !== "") ?? "the node's folder",
      );
    }, text);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
