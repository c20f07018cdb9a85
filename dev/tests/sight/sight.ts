/**
 * Which files of this tree a test can see: what it imports, what it reads or starts by path, and so on from there. Rather a file too many: a verdict that is
 * kept although something changed is a lie. Where a source's text does not say what it reads, the test sees all of that source's room. Pure.
 */
import { posix } from "node:path";
import { COPIED, DASHBOARD, ENTRIES, VERIFIER_PAGE } from "@resontech/airgap/shipped-sources";
import { roomOf } from "../room-of.ts";
import { ships } from "../ships.ts";
import { tierOf } from "../tier.ts";
import { type PathValue, RELEASE_APP } from "./path-values.ts";
import type { Source, SourceTree } from "./source-tree.ts";

/** Every test sees these: they decide how it runs, and whether an earlier verdict counts. Costs decide an order alone. */
const OF_ALL =
  /^(?:dev\/tests\/(?!recorded-costs\.json$)|dev\/house\/|dev\/test\.ts$|house\/src\/(?:read-rooms|run-child)\.ts$|package(?:-lock)?\.json$|tsconfig\.json$|\.taprc$)/;

/** Tests that read files of every room, whatever they import: documents, names, arrows. */
const READS_ALL: ReadonlySet<string> = new Set([
  "dev/test/documents.test.ts",
  "dev/test/exported-names.test.ts",
  "dev/test/import-rules.test.ts",
  "dev/test/mutual-folders.test.ts",
  "dev/test/room-exports.test.ts",
  "dev/test/sight/source-tree.engines.test.ts",
  "dev/test/steady-tests.test.ts",
  "dev/test/stop-order.test.ts",
  "audit/test/catalogue.test.ts",
  "parts/coordinator/test/errors-document.test.ts",
  "proofs/test/proofs-document.test.ts",
]);

/** Installs what the tests of this tier use. */
const INSTALLS = "dev/test-appliance.ts";

/** Sources whose paths lead to the whole tree, and what is seen in their place. */
const PATHS_OF: Readonly<Record<string, readonly string[]>> = {
  // Folders of our Go programs stand in its text.
  "airgap/src/engines/ensure-engine.ts": [],
  // It evaluates modules of the programs.
  "airgap/src/release/fixed-values.ts": [],
  // esbuild goes by the imports of the entry.
  "airgap/src/release/compile-options.ts": [],
  // Programs are compiled together, and each is made of its own entry.
  "house/src/shipped-program.ts": [
    "airgap/src/release/compile-options.ts",
    "airgap/src/release/fixed-values.ts",
  ],
  // A build evaluates the one for the other.
  "parts/coordinator/src/authorization/judged-at-build.ts": [
    "parts/coordinator/build/judged-policies.ts",
  ],
  // A bundle is made of all that ships, and so is another release.
  "house/src/installed/local-appliance.ts": [],
  "house/src/installed/release-tree.ts": [],
  // What a page is compiled of; whoever names another folder says so.
  "dashboard/build/dashboard-options.ts": ["dashboard/index.html", "dashboard/src"],
  // Files of their own making, in a folder of the cache.
  "dev/test/join-packages.engines.test.ts": [],
  "dev/test/runner.engines.test.ts": [],
  "dev/test/test-host.engines.test.ts": [],
  // The run starts what is lent.
  "house/src/pool-client.ts": ["house/src/engine-pool.ts"],
  // The program is one of those that declarations name.
  "house/src/running-part.ts": [],
};
const BUILDS: ReadonlySet<string> = new Set([
  "house/src/installed/local-appliance.ts",
  "house/src/installed/release-tree.ts",
]);
const STARTS_DECLARED = "house/src/running-part.ts";
/** A table of sources: whoever reads it uses none of them. */
const TABLE = "airgap/src/release/shipped-sources.ts";
/** Steps that airgap made are kept there. */
const STEPS = ".cache/airgap";

/** Test → files that it can see. */
export function sightsOf(
  tests: readonly string[],
  tree: SourceTree,
): Map<string, ReadonlySet<string>> {
  const files = [...tree.files];
  const groups = {
    ofAll: files.filter((file) => OF_ALL.test(file)),
    shipped: files.filter(ships),
    byRoom: Map.groupBy(files, roomOf),
  };
  return new Map(tests.map((test) => [test, new Sight(tree, groups).of(test)]));
}

/** Files that many tests see. */
type Groups = {
  ofAll: readonly string[];
  shipped: readonly string[];
  byRoom: ReadonlyMap<string, readonly string[]>;
};

/** What one test sees, as it is gathered. */
class Sight {
  readonly #tree: SourceTree;
  readonly #groups: Groups;
  readonly #files: Set<string>;
  /** Files whose imports and paths are still to be followed; a set goes on over what is added meanwhile. */
  readonly #followed = new Set<string>();
  readonly #declared = new Set<string>();
  #isAll = false;

  constructor(tree: SourceTree, groups: Groups) {
    this.#tree = tree;
    this.#groups = groups;
    this.#files = new Set(groups.ofAll);
  }

  of(test: string): ReadonlySet<string> {
    if (READS_ALL.has(test)) return this.#tree.files;
    if (tierOf(test) === "acceptance") {
      this.#seeShipped();
      this.#follow(INSTALLS);
    }
    this.#follow(test);
    for (const file of this.#followed) {
      this.#see(`${roomOf(file)}/package.json`);
      const source = this.#tree.sources.get(file);
      if (source !== undefined) this.#look(file, source);
    }
    return this.#isAll ? this.#tree.files : this.#files;
  }

  #look(file: string, source: Source): void {
    for (const imported of source.imports) this.#follow(imported);
    if (file !== TABLE) for (const path of source.named) this.#followAt(path);
    if (source.usesBundle || BUILDS.has(file)) this.#seeShipped();
    for (const name of source.declares) this.#declare(name);
    if (file === STARTS_DECLARED) for (const name of this.#declared) this.#followProgram(name);
    if (source.isForeign) this.#seeUnread(roomOf(file));
    const instead = PATHS_OF[file];
    if (instead !== undefined) return instead.forEach((other) => this.#followAt(other));
    if (!this.#followPaths(source.paths) || source.hasUnnamed) this.#open(file, source);
  }

  /** @returns false: one leads to the whole tree, or nowhere */
  #followPaths(paths: readonly PathValue[]): boolean {
    const inRelease = paths.filter(({ path }) => path.startsWith(RELEASE_APP));
    const isInRelease = inRelease.map((value) => this.#followShipped(value)).includes(true);
    return paths
      .filter(({ path }) => !path.startsWith("/") && !path.startsWith(".."))
      .map(({ path, isBelow }) => {
        if (path.includes("node_modules")) return true;
        if (path.startsWith(".cache")) return this.#seeSteps(path);
        if (path === "") return false;
        if (this.#followAt(path) || (isInRelease && !isBelow)) return true;
        // It is in no commit, and whoever looks for it finds that.
        return !isBelow && (this.#tree.folders.has(posix.dirname(path)) || !path.includes("/"));
      })
      .every((isKnown) => isKnown);
  }

  /** @returns whether the release has it */
  #followShipped({ path, isBelow }: PathValue): boolean {
    const key = `app${path.slice(RELEASE_APP.length)}`;
    if (key === "app") {
      if (isBelow) this.#seeShipped();
      return isBelow;
    }
    const entry = ENTRIES[key];
    if (entry !== undefined) this.#follow(entry.source);
    else if (isWithin(key, DASHBOARD)) this.#followShippedOf("dashboard");
    else if (key === VERIFIER_PAGE) this.#followShippedOf("verifier");
    else {
      const sources = Object.entries(COPIED)
        .filter(([at]) => isWithin(key, at) || isWithin(at, key))
        .map(([, source]) => source);
      for (const source of sources) this.#followAt(source);
      return sources.length > 0;
    }
    return true;
  }

  #declare(name: string): void {
    this.#declared.add(name);
    if (this.#followed.has(STARTS_DECLARED)) this.#followProgram(name);
  }

  #followProgram(name: string): void {
    const entry = ENTRIES[`app/${name}.mjs`];
    if (entry !== undefined) this.#follow(entry.source);
  }

  /** Its room and those that it names, with what their sources import. */
  #open(file: string, { rooms, asksGit }: Source): void {
    if (asksGit) this.#isAll = true;
    for (const room of new Set([roomOf(file), ...rooms])) this.#followRoom(room);
  }

  #followRoom(room: string): void {
    for (const file of this.#filesOf(room)) this.#followFile(file);
  }

  #followShippedOf(room: string): void {
    for (const file of this.#filesOf(room)) if (ships(file)) this.#follow(file);
  }

  /** A program of another language reads files of its room by ways that are not read here, but no TypeScript. */
  #seeUnread(room: string): void {
    for (const file of this.#filesOf(room)) if (!/\.tsx?$/.test(file)) this.#followFile(file);
  }

  #seeSteps(path: string): true {
    if (isWithin(path, STEPS)) for (const file of this.#filesOf("airgap")) this.#see(file);
    return true;
  }

  #seeShipped(): void {
    for (const file of this.#groups.shipped) this.#files.add(file);
  }

  /** @returns whether there is such a file or folder */
  #followAt(path: string): boolean {
    const files = this.#tree.files.has(path) ? [path] : this.#tree.folders.get(path);
    for (const file of files ?? []) this.#followFile(file);
    return files !== undefined;
  }

  /** A test is read, and never started by another one. */
  #followFile(file: string): void {
    if (file.endsWith(".test.ts")) this.#see(file);
    else this.#follow(file);
  }

  #follow(file: string): void {
    this.#see(file);
    this.#followed.add(file);
  }

  #see(file: string): void {
    if (this.#tree.files.has(file)) this.#files.add(file);
  }

  #filesOf(room: string): readonly string[] {
    return this.#groups.byRoom.get(room) ?? [];
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
