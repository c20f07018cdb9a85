/** On the real bundle that `npm test` built: what each program and library of it wants of the host's C and C++ library. */
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import {
  type DsseEnvelope,
  HOST_TOOLS,
  type ReleaseFile,
} from "@resontech/contracts/release-manifest";
import t from "tap";

/** glibc 2.28 and the C++ library of GCC 8, which came out together; Node itself wants as much. docs/operator/install.md says so. */
const NEWEST = { GLIBC: "2.28", GLIBCXX: "3.4.25", CXXABI: "1.3.11", GCC: "8.0.0" } as const;

/** HAProxy has its libraries in a folder of its own. */
const DOOR = "engines/haproxy/";

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

/** All but the host tools, which bring a C library of their own. */
function programsOf(tree: readonly ReleaseFile[]): ReleaseFile[] {
  return tree.filter((file) => !file.path.startsWith(`${HOST_TOOLS}/`) && isElf(blobOf(file)));
}

function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number));
  const at = [0, 1, 2].find((index) => (a?.[index] ?? 0) !== (b?.[index] ?? 0));
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
}

t.test("no program wants a newer symbol of the host than glibc 2.28 and GCC 8 have", async (t) => {
  const programs = programsOf(releaseTree());
  for (const path of ["bin/node", "engines/nats-server", "engines/rt-verify", `${DOOR}haproxy`])
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
    for (const file of programsOf(releaseTree())) {
      const table = execFileSync("readelf", ["--dynamic", "--wide", blobOf(file)], {
        encoding: "utf8",
      });
      if (file.path.startsWith("engines/") && !file.path.startsWith(DOOR))
        t.notMatch(table, /NEEDED/, file.path);
      if (file.path.endsWith(".node")) t.notMatch(table, /libstdc\+\+|libgcc_s/, file.path);
    }
  },
);

t.test("the front door brings every library but those of glibc", async (t) => {
  const tree = releaseTree().filter(({ path }) => path.startsWith(DOOR));
  const own = tree.map(({ path }) => path.replace(`${DOOR}lib/`, ""));
  const glibc = /^lib(c|dl|rt|m|pthread)\.so\.\d$/;
  const programs = tree.filter((file) => isElf(blobOf(file)));
  t.equal(programs.length, 7);
  for (const file of programs) {
    const dynamic = execFileSync("readelf", ["--dynamic", "--wide", blobOf(file)], {
      encoding: "utf8",
    });
    const needed = [...dynamic.matchAll(/NEEDED.*\[(.+)\]/g)].map(([, name = ""]) => name);
    t.same(
      needed.filter((name) => !glibc.test(name) && !own.includes(name)),
      [],
      file.path,
    );
  }
  for (const licence of ["LICENSE", "THIRD_PARTY_LICENSES", "Apache-2.0", "LGPL-2.1", "zlib"])
    t.ok(own.includes(`${DOOR}licences/${licence}`), licence);
});

t.test("a host tool finds loader and libraries in the release alone", async (t) => {
  const tools = releaseTree().filter(({ path }) => path.startsWith(`${HOST_TOOLS}/`));
  const home = readFileSync(
    blobOf(tools.find(({ path }) => path === `${HOST_TOOLS}/location`)!),
    "utf8",
  ).trim();
  const libraries = new Set(tools.map(({ path }) => path.replace(`${HOST_TOOLS}/lib/`, "")));
  const programs = tools.filter((file) => isElf(blobOf(file)));
  t.ok(programs.length > 50);
  for (const file of programs) {
    const read = (flag: string) =>
      execFileSync("readelf", [flag, "--wide", blobOf(file)], { encoding: "utf8" });
    const dynamic = read("--dynamic");
    const needed = [...dynamic.matchAll(/NEEDED.*\[(.+)\]/g)].map(([, name = ""]) => name);
    t.same(
      needed.filter((name) => !libraries.has(name)),
      [],
      `${file.path} has all that it needs`,
    );
    if (file.path.startsWith(`${HOST_TOOLS}/bin/`))
      t.match(read("--program-headers"), `interpreter: ${home}/lib/ld-linux-x86-64.so.2]`);
    if (needed.length > 0 && !file.path.endsWith("/libc.so.6"))
      t.match(dynamic, `[${home}/lib]`, file.path);
  }
});
