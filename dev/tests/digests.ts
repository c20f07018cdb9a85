import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { sightsOf } from "./sight/sight.ts";
import type { SourceTree } from "./sight/source-tree.ts";

/** Debian's packages of this host: engines, browsers, directories of tests. */
const HOST_PACKAGES = "/var/lib/dpkg/status";

/** One digest for each test file, of all that it can see: two runs of equal digests see the same. @param host what is not in the tree */
export function digestsOf(
  tests: readonly string[],
  repository: string,
  tree: SourceTree,
  host = hostDigest(),
): Map<string, string> {
  const contents = new Map(
    [...tree.files].map((file) => [file, contentOf(join(repository, file))]),
  );
  return new Map(
    [...sightsOf(tests, tree)].map(([test, seen]) => {
      const hash = createHash("sha256").update(host);
      for (const [file, content] of contents)
        if (seen.has(file)) hash.update(`\0${file}\0`).update(content);
      return [test, hash.digest("hex")];
    }),
  );
}

function contentOf(path: string): Buffer {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return Buffer.from("gone");
  if (stat.isSymbolicLink()) return Buffer.from(readlinkSync(path));
  const content = createHash("sha256").update(readFileSync(path)).digest();
  return Buffer.concat([content, Buffer.from([stat.mode & 0o100])]);
}

function hostDigest(): string {
  const packages = createHash("sha256").update(readFileSync(HOST_PACKAGES)).digest("hex");
  return `${process.version} ${release()} ${packages}`;
}
