/** Files of a chosen folder by their path below it. Pure. */
export type ChosenFile = { path: string; file: File };

/** What systems leave in folders, and nobody means. */
const UNMEANT = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|__pycache__(\/|$))/;

export function isMeant(path: string): boolean {
  return !UNMEANT.test(path);
}

/** @returns the folder's own name, and its files in the order of their paths */
export function chosenFiles(files: readonly File[]): { name: string; files: ChosenFile[] } {
  const [name = ""] = files[0]?.webkitRelativePath.split("/") ?? [];
  return {
    name,
    files: files
      .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file }))
      .filter(({ path }) => isMeant(path))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}
