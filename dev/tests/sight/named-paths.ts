/** Paths of a tree that stand in a text as they are, whatever is done with them. Pure. */
import { posix } from "node:path";

/** `"a/b"`, `'a/b'`. */
const LITERAL = /"([^"\n]{1,200})"|'([^'\n]{1,200})'/g;
/** What is joined in pieces: `join(x, "policies", "realm.json")`. */
const JOINED = /\b(?:join|resolve|URL)\(([^;]{0,400})/g;

/** What an import names is followed as an import, where it is loaded at all. */
const IMPORTED = /\bfrom\s*"[^"\n]*"|^\s*(?:\/\/|\*|\/\*).*$/gm;

/** From the tree's root; and those that begin with a dot from the file's own folder. */
export function namedPaths(file: string, text: string): string[] {
  const paths = literalsIn(text.replaceAll(IMPORTED, ""))
    .filter((path) => path.includes("/") && !path.includes(" ") && !path.startsWith("/"))
    .map((path) => (path.startsWith(".") ? posix.join(posix.dirname(file), path) : path));
  return [...new Set(paths.map((path) => path.replace(/\/$/, "")))];
}

/** Rooms that a text names: as a word, or as the beginning of a path. */
export function namedRooms(file: string, text: string, rooms: readonly string[]): string[] {
  const words = literalsIn(text).map((path) =>
    path.startsWith("..") ? posix.join(posix.dirname(file), path) : path,
  );
  return rooms.filter((room) => words.some((word) => `${word}/`.startsWith(`${room}/`)));
}

function literalsIn(text: string): string[] {
  const joined = [...text.matchAll(JOINED)].map(([, args = ""]) =>
    args.replaceAll(/"\s*,\s*"/g, "/"),
  );
  return [text, ...joined].flatMap((part) =>
    [...part.matchAll(LITERAL)].map(([, double, single]) => double ?? single ?? ""),
  );
}
