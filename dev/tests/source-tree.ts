/** What tests are made of: the imports of every file, the programs that tests start, the rooms that a file names in paths. */
export type SourceTree = {
  /** File → files that it imports, by their paths in this tree. */
  imports: ReadonlyMap<string, readonly string[]>;
  /** Test or helper → sources of the programs that it starts. */
  programs: ReadonlyMap<string, readonly string[]>;
  /** File → rooms that it names in paths. */
  rooms: ReadonlyMap<string, readonly string[]>;
};
