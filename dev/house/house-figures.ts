/** Pure: figures of the tree, from its files and its imports. */
import { roomOf } from "../tests/room-of.ts";

/** @property named as it stands in the source */
export type Import = { from: string; to: string; named: string };

/** Without those that begin with a dot. @param files their paths in this tree */
export function foldersAtRoot(files: readonly string[]): string[] {
  const tops = files.filter((file) => file.includes("/")).map((file) => file.split("/")[0]!);
  return [...new Set(tops)].filter((top) => !top.startsWith(".")).sort();
}

/** Imports that name a file of another room by its path, past the room's `exports`. */
export function pathsIntoRooms(imports: readonly Import[]): Import[] {
  return imports.filter(
    ({ from, to, named }) =>
      named.startsWith(".") && !to.includes("node_modules/") && roomOf(from) !== roomOf(to),
  );
}

/** Exports that no file of another room imports. @param names as other rooms import them */
export function unusedExports(names: Iterable<string>, imports: readonly Import[]): string[] {
  const used = new Set(
    imports.filter(({ from, to }) => roomOf(from) !== roomOf(to)).map(({ named }) => named),
  );
  return [...names].filter((name) => !used.has(name)).sort();
}

/** Folders side by side, of the product or of proofs, of which files of each import files of the other: `room/src/a <> room/src/b`. */
export function mutualFolders(imports: readonly Import[]): string[] {
  const hasLayers = (file: string): boolean =>
    (file.includes("/src/") || file.startsWith("proofs/")) && !file.includes("node_modules/");
  const arrows = new Set(
    imports.flatMap(({ from, to }) => {
      const arrow = hasLayers(from) && hasLayers(to) ? arrowBetween(from, to) : null;
      return arrow === null ? [] : [arrow];
    }),
  );
  return [...arrows]
    .map((arrow) => arrow.split(" > ") as [string, string])
    .filter(([one, other]) => one < other && arrows.has(`${other} > ${one}`))
    .map(([one, other]) => `${one} <> ${other}`)
    .sort();
}

/** From folder to folder below the last one that both files lie in; null within one, and where one lies in the other's. */
function arrowBetween(from: string, to: string): string | null {
  const [one, other] = [from.split("/"), to.split("/")];
  let at = 0;
  while (one[at] === other[at] && at < one.length && at < other.length) at += 1;
  if (at >= one.length - 1 || at >= other.length - 1) return null;
  return `${one.slice(0, at + 1).join("/")} > ${other.slice(0, at + 1).join("/")}`;
}
