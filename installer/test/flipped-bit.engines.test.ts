/** On the real bundle that `npm test` built: whatever is damaged is named, and nothing on the host has changed. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
  closeSync,
  copyFileSync,
  chmodSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";

const bundle = process.env["RT_TEST_BUNDLE"] ?? "";
t.ok(bundle !== "" && existsSync(bundle), "npm test gives the bundle; run it through `npm test`");

/** One file of each class: what the shell checks, what the signatures cover, a layer, a program. */
function victims(): string[] {
  const blobs = readdirSync(join(bundle, "blobs", "sha256")).map((name) => ({
    name: join("blobs/sha256", name),
    size: statSync(join(bundle, "blobs/sha256", name)).size,
  }));
  const bySize = blobs.sort((a, b) => a.size - b.size);
  const boot = readFileSync(join(bundle, "boot.sums"), "utf8")
    .split("\n")
    .filter((line) => line.includes("bin/node") || line.includes("installer.mjs"))
    .map((line) => `blobs/sha256/${line.slice(0, 64)}`);
  const signed = [
    "boot.sums",
    "boot.sums.sig",
    "release.json",
    "tuf/1.root.json",
    "tuf/offline-targets.json",
    "tuf/offline-snapshot.json",
    "media/1.json",
  ];
  return [
    ...signed,
    ...boot,
    bySize[0]?.name ?? "",
    bySize[Math.floor(bySize.length / 2)]?.name ?? "",
  ];
}

function flipBit(file: string): void {
  // The copy's blobs are hard links of the bundle's own: replace the file, never write into it.
  copyFileSync(file, `${file}.flip`);
  chmodSync(`${file}.flip`, statSync(file).mode);
  execFileSync("mv", ["-f", `${file}.flip`, file]);
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  const at = Math.floor(statSync(file).size / 2);
  readSync(fd, byte, 0, 1, at);
  writeSync(fd, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
  closeSync(fd);
}

/** A path that a root may have, wherever this tree lies; nothing is there. */
function rootFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "rt-flip-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "root");
}

for (const victim of victims()) {
  t.test(
    `a flipped bit in ${victim.replace(/[0-9a-f]{52}$/, "…")} is refused by name before anything changes`,
    async (t) => {
      const dir = t.testdir();
      const copy = join(dir, "bundle");
      execFileSync("cp", ["-al", bundle, copy]);
      t.teardown(() => rmSync(copy, { recursive: true, force: true }));
      flipBit(join(copy, victim));
      const root = rootFor(t);
      const done = spawnSync(
        "sh",
        [join(copy, "install.sh"), "--root", root, "--instance", "flip", "--yes"],
        { encoding: "utf8" },
      );
      t.equal(done.status, 3, done.stderr);
      t.match(done.stderr, victim === "boot.sums.sig" ? "boot.sums" : victim);
      t.match(done.stderr, "Nothing on this host was changed");
      t.notOk(existsSync(root));
      t.notOk(existsSync("/run/resontech/flip"));
    },
  );
}

t.test("a file that the release does not name is refused", async (t) => {
  const dir = t.testdir();
  const copy = join(dir, "bundle");
  execFileSync("cp", ["-al", bundle, copy]);
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  copyFileSync(join(copy, "release.json"), join(copy, "blobs", "extra"));
  const done = spawnSync("sh", [join(copy, "install.sh"), "--root", rootFor(t), "--yes"], {
    encoding: "utf8",
  });
  t.equal(done.status, 3);
  t.match(done.stderr, "blobs/extra");
});
