/** Which tests a change can reach: by imports, by the programs that they start, and by the room of a file that nothing imports. */
import { roomOf } from "./room-of.ts";
import { ships } from "./ships.ts";
import type { SourceTree } from "./source-tree.ts";
import { tierOf } from "./tier.ts";

export type Reach = Pick<SourceTree, "imports" | "programs"> & {
  /** Files that changed, by their paths in this tree. */
  changed: readonly string[];
  tests: readonly string[];
};

/** Folders whose every file can change what any test does. */
const EVERYTHING = /^(?:dev\/|package-lock\.json$|package\.json$|tsconfig\.json$|\.taprc$|\.ci\/)/;
/** Tests that read sources of every room, and documents, whatever they import: each change of any file reaches them. */
const READS_ALL: ReadonlySet<string> = new Set([
  "dev/test/documents.test.ts",
  "dev/test/exported-names.test.ts",
  "dev/test/import-rules.test.ts",
  "dev/test/mutual-folders.test.ts",
  "dev/test/room-exports.test.ts",
  "dev/test/steady-tests.test.ts",
  "dev/test/stop-order.test.ts",
  "audit/test/catalogue.test.ts",
  "parts/coordinator/test/errors-document.test.ts",
  "proofs/test/proofs-document.test.ts",
]);
/** Whether a test reads files of every room. */
export function readsAll(test: string): boolean {
  return READS_ALL.has(test);
}

/** What no other test reads. */
const NOTHING =
  /^(?:README\.md|(?:parts\/)?[^/]+\/README\.md|docs\/(?:decisions\/|proofs\/|roadmap\.md|proofs\.md))/;

/** The tests to run, in the order of `tests`. The installed appliance is made of every file that ships, so each of those reaches `acceptance/`. */
export function reachedTests({ changed, imports, programs, tests }: Reach): string[] {
  const relevant = changed.filter((file) => !NOTHING.test(file));
  if (relevant.some((file) => EVERYTHING.test(file))) return [...tests];
  const reached = new Set(relevant.filter((file) => imports.has(file)));
  const rooms = new Set(relevant.filter((file) => !imports.has(file)).map(roomOf));
  for (let before = -1; before !== reached.size; ) {
    before = reached.size;
    for (const [file, imported] of imports)
      if (
        !reached.has(file) &&
        [...imported, ...(programs.get(file) ?? [])].some((each) => reached.has(each))
      )
        reached.add(file);
  }
  const isShipped = relevant.some(ships);
  return tests.filter(
    (test) =>
      (changed.length > 0 && readsAll(test)) ||
      reached.has(test) ||
      rooms.has(roomOf(test)) ||
      (isShipped && tierOf(test) === "acceptance"),
  );
}
