import { createHash } from "node:crypto";

export type FileDigest = { path: string; sizeBytes: number; sha256: string };

/** 40 hexadecimal digits, as clients of Hugging Face know a state of a repository: of the same name, licence and content it is the same. */
export function commitId(name: string, licence: string, files: readonly FileDigest[]): string {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const said = [
    name,
    licence,
    sorted.map(({ path, sizeBytes, sha256 }) => [path, sizeBytes, sha256]),
  ];
  return createHash("sha256").update(JSON.stringify(said)).digest("hex").slice(0, 40);
}
