/** Which rooms a test can see anything of. Rather one too many: a verdict that is kept although something changed is a lie. */
import { readsAll } from "./reached-tests.ts";
import type { SourceTree } from "./source-tree.ts";
import { tierOf } from "./tier.ts";

/** A bundle is made of all that ships. */
const BUNDLE = "RT_TEST_BUNDLE";

/**
 * Rooms (folders at the top) of the test, of all that it imports or starts, and those that any of these names in a path.
 * @returns null: every room, documents too
 */
export function roomClosure(test: string, tree: SourceTree): string[] | null {
  if (tierOf(test) === "acceptance" || readsAll(test)) return null;
  const seen = new Set([test]);
  // A set goes on over what is added meanwhile.
  for (const file of seen)
    for (const next of [...(tree.imports.get(file) ?? []), ...(tree.programs.get(file) ?? [])])
      if (!next.includes("node_modules/")) seen.add(next);
  const rooms = new Set<string>();
  for (const file of seen) {
    if (file.includes("/")) rooms.add(file.split("/")[0]!);
    for (const room of tree.rooms.get(file) ?? []) rooms.add(room);
  }
  return rooms.has(BUNDLE) ? null : [...rooms].sort();
}

/** Rooms in paths of a source: `"../policies/x"`, `join(…, "policies", …)`; and {@link BUNDLE} where it uses one. */
export function namedRooms(text: string, rooms: readonly string[]): string[] {
  const paths = [...text.matchAll(/\b(?:join|resolve|URL)\(([^;]{0,400})/g)].map(
    ([, args = ""]) => args,
  );
  const isNamed = (room: string): boolean =>
    text.includes(`../${room}/`) ||
    paths.some((args) => args.includes(`"${room}"`) || args.includes(`"${room}/`));
  return [...rooms.filter(isNamed), ...(text.includes(BUNDLE) ? [BUNDLE] : [])];
}
