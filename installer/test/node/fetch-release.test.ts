/** What a node lays down, from a folder that is whole, damaged or tampered with. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import t, { type Test } from "tap";
import { fetchRelease } from "../../src/node/fetch-release.ts";
import { openSource } from "../../src/node/node-source.ts";

function medium(t: Test) {
  const dir = t.testdir();
  const blobs = join(dir, "medium", "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const file = (path: string, text: string, executable = false) => {
    const sha256 = createHash("sha256").update(text).digest("hex");
    writeFileSync(join(blobs, sha256), text);
    return { path, sha256, sizeBytes: text.length, executable };
  };
  const tree = [
    file("bin/node", "runtime", true),
    file("app/runners/a/b.py", "runner"),
    file("app/coordinator.mjs", "not a node's"),
  ];
  const release = { tree } as ReleaseManifest;
  const into = join(dir, "release");
  const source = openSource(join(dir, "medium"), "");
  return {
    ...{ into, tree, blobs },
    fetch: () => fetchRelease(release, source, into, () => undefined),
    files: () =>
      readdirSync(into, { recursive: true, encoding: "utf8" })
        .filter((name) => statSync(join(into, name)).isFile())
        .sort(),
  };
}

t.test(
  "a node has the files that it needs and no others, and a second run fetches none",
  async (t) => {
    const { fetch, files, into } = medium(t);
    t.equal(await fetch(), 2);
    t.same(files(), ["app/runners/a/b.py", "bin/node"]);
    t.equal(statSync(join(into, "bin/node")).mode & 0o777, 0o755);
    t.equal(await fetch(), 0);
  },
);

t.test("a file that was changed, cut or lost its mode on the node is put right", async (t) => {
  const { fetch, into } = medium(t);
  await fetch();
  for (const text of ["runtimE", "run", ""]) {
    writeFileSync(join(into, "bin/node"), text);
    t.equal(await fetch(), 1);
    t.equal(readFileSync(join(into, "bin/node"), "utf8"), "runtime");
  }
  writeFileSync(join(into, "bin/node.part"), "what a crash left");
  writeFileSync(join(into, "bin/node"), "");
  t.equal(await fetch(), 1);
});

t.test("bytes that the release does not name never stand on the node", async (t) => {
  for (const text of ["runtimE", "run", "runtime and more", ""]) {
    const { fetch, files, tree, blobs } = medium(t);
    writeFileSync(join(blobs, tree[0]?.sha256 ?? ""), text);
    await t.rejects(fetch(), { code: "source_failed", message: /bin\/node/ });
    t.same(files(), []);
  }
});
