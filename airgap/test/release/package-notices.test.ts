import t from "tap";
import { readLock } from "../../src/lock/lock-file.ts";
import { describePackages, packageFolders } from "../../src/release/package-notices.ts";
import { noticesOf } from "../../src/release/third-party-notices.ts";

t.test(
  "a compiled file leads to its package, the innermost where packages lie in one another",
  async (t) => {
    t.same(
      packageFolders("/some/tree", [
        "parts/coordinator/src/server.ts",
        "node_modules/fastify/lib/reply.js",
        "node_modules/fastify/fastify.js",
        "node_modules/@peculiar/x509/build/x509.js",
        "node_modules/tar-fs/node_modules/chownr/chownr.js",
        "cli/node_modules/commander/lib/command.js",
        "/some/tree/node_modules/react/index.js?commonjs-es-import",
        "\0rolldown/runtime.js",
      ]),
      [
        "cli/node_modules/commander",
        "node_modules/@peculiar/x509",
        "node_modules/fastify",
        "node_modules/react",
        "node_modules/tar-fs/node_modules/chownr",
      ],
    );
  },
);

t.test("each package is named once, with version, licence and the text of it", async (t) => {
  const root = t.testdir({
    node_modules: {
      a: {
        "package.json": '{"name":"a","version":"1.0.0","license":"MIT"}',
        LICENSE: "Permission is granted by A.\n",
        "NOTICE.txt": "A holds works of others.\n",
        "licenses.js": "code",
      },
      b: {
        "package.json": '{"name":"b","version":"2.0.0","licenses":[{"type":"MIT"},{"type":"ISC"}]}',
        node_modules: {
          a: {
            "package.json": '{"name":"a","version":"1.0.0","license":"MIT"}',
            license: "Permission is granted by A.",
          },
        },
      },
    },
  });
  const text = describePackages(root, [
    "node_modules/a",
    "node_modules/b",
    "node_modules/b/node_modules/a",
  ]);
  t.equal(text.split("a 1.0.0").length, 2);
  t.match(text, /Licence: MIT\n\nPermission is granted by A\./);
  t.match(text, /b 2\.0\.0\nLicence: MIT OR ISC\n\nThe package has no text of its licence\./);
  t.notMatch(text, "code");
});

t.test("a package that states no licence ends the build", async (t) => {
  const root = t.testdir({
    node_modules: { c: { "package.json": '{"name":"c","version":"1.0.0"}' } },
  });
  t.throws(
    () => describePackages(root, ["node_modules/c"]),
    /node_modules\/c\/package\.json states no licence/,
  );
});

t.test(
  "the notices of a release name its engines and Python packages before the npm packages",
  async (t) => {
    const lock = readLock(false);
    const text = noticesOf(lock, "PACKAGES");
    t.ok(text.startsWith(`Programs of others in release ${lock.version}\n`));
    for (const name of ["nats", "s3", "haproxy", "node", "keycloak", "postgres", "tools/podman"])
      t.match(text, new RegExp(`^${name} \\S+\\n  \\S`, "m"), name);
    t.match(text, /^torch \S+\n {2}\S/m);
    t.ok(text.endsWith("PACKAGES"));
  },
);
