/** What a tree is made of, as far as tests can see it. */
import type { PathValue } from "./path-values.ts";

export type Source = {
  /** Files of this tree that it loads when it runs. */
  imports: readonly string[];
  /** Paths that it makes of the place where it stands. */
  paths: readonly PathValue[];
  /** Files of this tree, and folders within a room, whose paths stand in its text. */
  named: readonly string[];
  /** Rooms that its text names in any way. */
  rooms: readonly string[];
  /** Programs of the release that it declares. */
  declares: readonly string[];
  /** It loads a module whose name nobody can read in its text. */
  hasUnnamed: boolean;
  asksGit: boolean;
  usesBundle: boolean;
  /** In a language that is not read here. */
  isForeign: boolean;
};

export type SourceTree = {
  /** All files, by their paths. */
  files: ReadonlySet<string>;
  /** Folder → all files below it. */
  folders: ReadonlyMap<string, readonly string[]>;
  /** Those that can load, start or read others. */
  sources: ReadonlyMap<string, Source>;
  /** Folders whose files belong together: workspaces, `parts`, and `dev`. */
  rooms: ReadonlySet<string>;
};
