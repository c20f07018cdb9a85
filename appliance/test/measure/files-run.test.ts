import t from "tap";
import { filesRun } from "../../src/measure/files-run.ts";

const file = (path: string) => ({ path, sha256: "0".repeat(64), sizeBytes: 1, executable: false });
const release = {
  folder: "/opt/r/current",
  tree: [
    "app/auditd.mjs",
    "app/node_modules/a/index.js",
    "app/node_modules/ab/index.js",
    "app/scrub.mjs",
    "bin/node",
  ].map(file),
};

t.test("a part runs its program, what it is told to run, and what it loads", async (t) => {
  const command = {
    program: "/opt/r/current/bin/node",
    args: ["/opt/r/current/app/auditd.mjs", "--config", "/opt/r/etc/auditd.json"],
    loads: ["app/node_modules/a/", "app/scrub.mjs"],
  };
  t.same(filesRun(release, command), [
    "app/auditd.mjs",
    "app/node_modules/a/index.js",
    "app/scrub.mjs",
    "bin/node",
  ]);
});

t.test("what Node loads of the release counts as run by each part that Node runs", async (t) => {
  const library = {
    path: `lib/${"0".repeat(64)}`,
    sha256: "0".repeat(64),
    sizeBytes: 1,
    executable: false,
  };
  const tree = [...release.tree, library, file("lib/libatomic.so.1.copyright")];
  const command = { program: "/opt/r/current/bin/node", args: [], loads: [] };
  t.same(filesRun({ ...release, tree }, command), ["bin/node", library.path]);
  t.same(filesRun({ ...release, tree }, { ...command, program: "/opt/r/current/engines/other" }), [
    "engines/other",
  ]);
});

t.test(
  "a program of the release that its list lacks is hashed as well, one of the host is not",
  async (t) => {
    t.same(filesRun(release, { program: "/opt/r/current/engines/other", args: [], loads: [] }), [
      "engines/other",
    ]);
    t.same(
      filesRun(release, { program: "/usr/bin/podman", args: ["system", "service"], loads: [] }),
      [],
    );
  },
);
