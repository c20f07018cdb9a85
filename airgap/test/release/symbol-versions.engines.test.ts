/** On the real bundle that `npm test` built: what each program and library of it wants of the host's C and C++ library. */
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { DsseEnvelope, ReleaseFile } from "@resontech/contracts/release-manifest";
import t from "tap";

/** glibc 2.28 and the C++ library of GCC 8, which came out together; Node itself wants as much. docs/operator/install.md says so. */
const NEWEST = { GLIBC: "2.28", GLIBCXX: "3.4.25", CXXABI: "1.3.11", GCC: "8.0.0" } as const;

const bundle = process.env["RT_TEST_BUNDLE"] ?? "";
t.ok(bundle !== "" && existsSync(bundle), "npm test gives the bundle; run it through `npm test`");
const blobOf = ({ sha256 }: ReleaseFile): string => join(bundle, "blobs", "sha256", sha256);

function releaseTree(): ReleaseFile[] {
  const { payload } = JSON.parse(
    readFileSync(join(bundle, "release.json"), "utf8"),
  ) as DsseEnvelope;
  return (
    JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: { tree: ReleaseFile[] } }
  ).predicate.tree;
}

function isElf(file: string): boolean {
  const [head, fd] = [Buffer.alloc(4), openSync(file, "r")];
  readSync(fd, head, 0, 4, 0);
  closeSync(fd);
  return head.equals(Buffer.from("\x7fELF", "latin1"));
}

function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((index) => (a?.[index] ?? 0) !== (b?.[index] ?? 0));
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

t.test("no program wants a newer symbol of the host than glibc 2.28 and GCC 8 have", async (t) => {
  const programs = releaseTree().filter((file) => isElf(blobOf(file)));
  for (const path of ["bin/node", "engines/nats-server", "engines/rt-verify"])
    t.ok(
      programs.some((file) => file.path === path),
      path,
    );
  t.equal(programs.filter(({ path }) => path.endsWith(".node")).length, 2, "both addons");
  for (const file of programs) {
    const listed = execFileSync("readelf", ["--version-info", "--wide", blobOf(file)], {
      encoding: "utf8",
    });
    const wanted = [...listed.matchAll(/Name: (GLIBC|GLIBCXX|CXXABI|GCC)_(\d[\d.]*)/g)];
    const tooNew = wanted.filter(([, library, version = ""]) =>
      isNewer(version, NEWEST[library as keyof typeof NEWEST]),
    );
    t.same(
      [...new Set(tooNew.map(([, library, version]) => `${library}_${version}`))],
      [],
      file.path,
    );
  }
});

t.test(
  "the programs of engines need nothing of the host, and no addon needs its C++ library",
  async (t) => {
    for (const file of releaseTree().filter((one) => isElf(blobOf(one)))) {
      const table = execFileSync("readelf", ["--dynamic", "--wide", blobOf(file)], {
        encoding: "utf8",
      });
      if (file.path.startsWith("engines/")) t.notMatch(table, /NEEDED/, file.path);
      if (file.path.endsWith(".node")) t.notMatch(table, /libstdc\+\+|libgcc_s/, file.path);
    }
  },
);
