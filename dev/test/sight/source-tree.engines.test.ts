/** Which verdicts hold depends on this: whatever a real compiler finds that a source loads is found without one, too. */
import { join } from "node:path";
import { ENTRIES } from "@resontech/airgap/shipped-sources";
import { build } from "esbuild";
import t from "tap";
import { readSourceTree } from "../../tests/sight/read-source-tree.ts";
import { testFiles } from "../../tests/test-files.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

t.test("what esbuild finds that tests and programs load is found, file by file", async (t) => {
  const programs = Object.values(ENTRIES).map(({ source }) => source);
  const loaded = [...testFiles(repository), ...programs];
  const { metafile } = await build({
    absWorkingDir: repository,
    // One file that loads all of them.
    stdin: {
      contents: loaded.map((file) => `import "./${file}";`).join("\n"),
      resolveDir: repository,
    },
    ...{ bundle: true, write: false, metafile: true, logLevel: "error", outfile: "out.mjs" },
    ...{ platform: "node", format: "esm", target: "node26" },
    plugins: [
      {
        name: "packages of others stay outside",
        setup: (build) => {
          build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
            path.startsWith("@resontech/") ? undefined : { path, external: true },
          );
        },
      },
    ],
  });
  const { sources } = await readSourceTree(repository);
  const found = Object.entries(metafile.inputs).flatMap(([from, { imports }]) =>
    from === "<stdin>"
      ? []
      : imports
          .filter(({ external }) => external !== true)
          .map(({ path }) => [from, path] as const),
  );
  t.ok(found.length > 5_000);
  t.same(
    found.filter(([from, to]) => sources.get(from)?.imports.includes(to) !== true),
    [],
  );
});
