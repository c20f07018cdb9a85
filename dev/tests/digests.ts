import { createHash, type Hash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { runChild } from "@resontech/house/run-child";
import { roomOf } from "./room-of.ts";
import { roomClosure, SHIPPED } from "./room-closure.ts";
import { ships } from "./ships.ts";
import type { SourceTree } from "./source-tree.ts";

/** Every test can see these: the runner, and what stands at the top. */
const EVERYWHERE = ["dev", "."];
/** Debian's packages of this host: engines, browsers, directories of tests. */
const HOST_PACKAGES = "/var/lib/dpkg/status";

/** One digest for each test file, of all that it can see: two runs of equal digests see the same. */
export async function digestsOf(
  tests: readonly string[],
  repository: string,
  tree: SourceTree,
): Promise<Map<string, string>> {
  const rooms = await roomDigests(repository);
  const host = hostDigest();
  return new Map(
    tests.map((test) => {
      const seen = roomClosure(test, tree) ?? [...rooms.keys()];
      const hash = createHash("sha256").update(host);
      for (const room of [...new Set([...seen, ...EVERYWHERE])].sort())
        hash.update(`${room}\0${rooms.get(room) ?? ""}\0`);
      return [test, hash.digest("hex")];
    }),
  );
}

/** Folder at the top → digest of all its files, of those that git does not know yet too; `.` has the files at the top, {@link SHIPPED} what ships. */
export async function roomDigests(repository: string): Promise<Map<string, string>> {
  const listed = await runChild(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { cwd: repository, quiet: true },
  );
  const hashes = new Map<string, Hash>();
  for (const file of [...new Set(listed.split("\0"))].filter((file) => file !== "").sort()) {
    const content = contentOf(join(repository, file));
    const room = roomOf(file);
    for (const name of ships(file) ? [room, SHIPPED] : [room]) {
      const hash = hashes.get(name) ?? createHash("sha256");
      hashes.set(name, hash.update(`${file}\0`).update(content));
    }
  }
  return new Map([...hashes].map(([room, hash]) => [room, hash.digest("hex")]));
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
