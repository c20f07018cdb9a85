/** Files by the folders that they lie in. Pure. */

/** `files_out/`, `files_out/logs/`, …: each folder with more than one file, in order. @param paths below the job's folder */
export function foldersOfFiles(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths)
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([folder]) => folder)
    .sort();
}

/** What all have in front: the job's folder. */
export function commonRoot(keys: readonly string[]): string {
  const [first = ""] = keys;
  let root = first.slice(0, first.lastIndexOf("/") + 1);
  while (root !== "" && !keys.every((key) => key.startsWith(root)))
    root = root.slice(0, root.slice(0, -1).lastIndexOf("/") + 1);
  // The folder of one kind of output is no root of all.
  return root.replace(/(model_out|files_out)\/.*$/, "");
}
