/** Which rooms a test can see anything of. Rather one too many: a verdict that is kept although something changed is a lie. */
import { posix } from "node:path";
import { readsAll } from "./reached-tests.ts";
import { roomOf } from "./room-of.ts";
import type { SourceTree } from "./source-tree.ts";
import { tierOf } from "./tier.ts";

/** The variable of who uses a bundle. */
const BUNDLE = "RT_TEST_BUNDLE";
/** Stands among the rooms for all that a bundle is made of. */
export const SHIPPED = "what ships";

/**
 * Rooms (folders at the top) of the test, of all that it imports or starts, and those that any of these names in a path; {@link SHIPPED} among them
 * where it uses a bundle.
 * @returns null: every room, documents too
 */
export function roomClosure(test: string, tree: SourceTree): string[] | null {
  if (readsAll(test)) return null;
  const seen = new Set([test]);
  // A set goes on over what is added meanwhile.
  for (const file of seen)
    for (const next of [...(tree.imports.get(file) ?? []), ...(tree.programs.get(file) ?? [])])
      if (isOurs(next)) seen.add(next);
  const rooms = new Set<string>();
  for (const file of seen) {
    if (file.includes("/")) rooms.add(roomOf(file));
    for (const room of tree.rooms.get(file) ?? []) rooms.add(room);
  }
  const isOfBundle = rooms.delete(BUNDLE) || tierOf(test) === "acceptance";
  return [...rooms, ...(isOfBundle ? [SHIPPED] : [])].sort();
}

/** Modules of Node have no extension. */
function isOurs(file: string): boolean {
  return !file.includes("node_modules/") && /\.[a-z]+$/.test(file);
}

/**
 * Rooms in paths of a source: `"../../policies/x"`, `join(…, "..", "agent", …)`, `join(…, "policies/x")`; and {@link BUNDLE} where the source uses one.
 * @param file its path in this tree, which paths that lead up are read from
 */
export function namedRooms(file: string, text: string, rooms: readonly string[]): string[] {
  const joined = [...text.matchAll(/\b(?:join|resolve|URL)\(([^;]{0,400})/g)].flatMap(
    ([, args = ""]) => literalsOf(args.replaceAll(/"\s*,\s*"/g, "/")),
  );
  const paths = [...joined, ...literalsOf(text).filter((path) => path.startsWith("../"))].map(
    (path) => (path.startsWith("..") ? posix.join(posix.dirname(file), path) : path),
  );
  const isNamed = (room: string): boolean =>
    paths.some((path) => `${path}/`.startsWith(`${room}/`));
  return [...rooms.filter(isNamed), ...(text.includes(BUNDLE) ? [BUNDLE] : [])];
}

function literalsOf(text: string): string[] {
  return [...text.matchAll(/"([^"\n]*)"/g)].map(([, path = ""]) => path);
}
