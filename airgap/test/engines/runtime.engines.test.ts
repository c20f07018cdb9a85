import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { runtimeLibraries } from "@resontech/contracts/release-manifest";
import t from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { pinnedNode } from "../../src/engines/pinned-node.ts";
import { buildRuntime } from "../../src/engines/runtime.ts";
import { fetchDebian } from "../../src/fetch/debian.ts";
import { readLock } from "../../src/lock/lock-file.ts";

const BIND = join(import.meta.dirname, "../../recipes/node/bind-libraries.py");
const lock = readLock(true);
const shared = new StepCache(DEFAULT_CACHE);
const sha256 = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex");

t.test(
  "Node finds its library in an installed tree and among a medium's blobs, and nowhere else",
  async (t) => {
    const files = await buildRuntime(shared, lock);
    const dir = t.testdir({ tree: {}, medium: {}, alone: {} });
    const digests = files.map(({ path, file }) => ({
      path,
      sha256: sha256(file),
      sizeBytes: 1,
      executable: true,
    }));
    t.equal(runtimeLibraries(digests).length, 1, "the library's name is its digest");
    for (const { path, file } of files) {
      mkdirSync(join(dir, "tree", path, ".."), { recursive: true });
      copyFileSync(file, join(dir, "tree", path));
      copyFileSync(file, join(dir, "medium", sha256(file)));
    }
    const node = files[0]?.file ?? "";
    const version = `v${lock.npm["node"]?.version}\n`;
    t.equal(
      execFileSync(join(dir, "tree", "bin", "node"), ["--version"], { encoding: "utf8", env: {} }),
      version,
    );
    t.equal(
      execFileSync(join(dir, "medium", sha256(node)), ["--version"], { encoding: "utf8", env: {} }),
      version,
    );
    copyFileSync(node, join(dir, "alone", "node"));
    t.match(spawnSync(join(dir, "alone", "node"), ["--version"], { encoding: "utf8" }), {
      status: 127,
      stderr: /error while loading shared libraries: [0-9a-f]{64}: cannot open/,
    });
  },
);

t.test("two machines make the same runtime, byte for byte", async (t) => {
  const debs = await fetchDebian(shared, "runtime", lock.deb["runtime"] ?? []);
  const build = async (): Promise<string[]> => {
    const cache = new StepCache(t.testdir());
    symlinkSync(debs, join(cache.directory, "steps", basename(debs)));
    return (await buildRuntime(cache, lock)).map(({ path, file }) => `${path} ${sha256(file)}`);
  };
  t.same(await build(), await build());
});

t.test("what is told where its libraries lie differs in few bytes, and only once", async (t) => {
  const program = join(t.testdir(), "node");
  copyFileSync(pinnedNode(lock), program);
  const bind = (...args: string[]) =>
    spawnSync("python3", [BIND, program, ...args], { encoding: "utf8" });
  t.match(bind("$ORIGIN", "libnothing.so.1=x"), {
    status: 1,
    stderr: /does not need libnothing\.so\.1/,
  });
  t.match(bind("$ORIGIN", `libatomic.so.1=${"x".repeat(5_000)}`), {
    status: 1,
    stderr: /unused bytes/,
  });
  t.ok(readFileSync(program).equals(readFileSync(pinnedNode(lock))), "a refusal changes nothing");
  t.equal(bind("$ORIGIN", "libatomic.so.1=x").status, 0);
  t.equal(statSync(program).size, statSync(pinnedNode(lock)).size);
  const changed = spawnSync("cmp", ["--verbose", pinnedNode(lock), program], { encoding: "utf8" })
    .stdout.trim()
    .split("\n");
  t.ok(changed.length < 200, `${changed.length} bytes`);
  t.match(bind("$ORIGIN", "libatomic.so.1=x"), { status: 1, stderr: /has a run path already/ });
});

t.test("nothing but the runtime, its library and its licence comes of it", async (t) => {
  const folder = join((await buildRuntime(shared, lock))[0]?.file ?? "", "..");
  t.same(readdirSync(folder).sort(), ["copyright", "libatomic.so.1", "node"]);
});
