import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import t from "tap";
import { command } from "../../src/cache/command.ts";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { fetchDebian } from "../../src/fetch/debian.ts";
import { fetchWheels, wheelsIn } from "../../src/fetch/pypi.ts";
import { buildDebianRoot } from "../../src/images/debian-root.ts";
import { packLayer } from "../../src/images/layer.ts";
import { readLayer, writeImage } from "../../src/images/oci-image.ts";
import { compilePython, SITE_PACKAGES, unpackWheels } from "../../src/fetch/python-tree.ts";
import { readLock } from "../../src/lock/lock-file.ts";

const EPOCH = 1_700_000_000;

/** A second machine, as far as a build can tell: another cache that has only what was fetched. */
function otherCache(directory: string, ...fetched: string[]): StepCache {
  const cache = new StepCache(directory);
  for (const folder of fetched) symlinkSync(folder, join(directory, "steps", basename(folder)));
  return cache;
}

t.test("owners, times and the order of creation do not show in a layer", async (t) => {
  const dir = t.testdir({ a: {}, b: {}, "out-a": {}, "out-b": {} });
  for (const [tree, names] of [
    ["a", ["x", "y", "z"]],
    ["b", ["z", "x", "y"]],
  ] as const) {
    for (const name of names) writeFileSync(join(dir, tree, name), name, { mode: 0o640 });
    mkdirSync(join(dir, tree, "folder"));
    symlinkSync("../x", join(dir, tree, "folder", "link"));
  }
  utimesSync(join(dir, "b", "x"), 1, 1);
  chownSync(join(dir, "b", "y"), 4242, 4242);
  const [a, b] = [
    await packLayer(join(dir, "a"), join(dir, "out-a"), EPOCH),
    await packLayer(join(dir, "b"), join(dir, "out-b"), EPOCH),
  ];
  t.equal(a.digest, b.digest);
  t.equal(a.diffId, b.diffId);
  writeFileSync(join(dir, "b", "x"), "X", { mode: 0o640 });
  t.not((await packLayer(join(dir, "b"), join(dir, "out-b"), EPOCH)).digest, a.digest);
});

t.test("an image packed on two machines has one digest, its Python byte-compiled", async (t) => {
  const lock = readLock(true);
  const shared = new StepCache(DEFAULT_CACHE);
  const debs = await fetchDebian(shared, "python", lock.deb["python"] ?? []);
  const wheels = await fetchWheels(shared, lock, "build-tools");
  const dir = t.testdir({ one: {}, "another-place": {} });
  const root = await buildDebianRoot(otherCache(join(dir, "one"), debs), lock, "python");
  // The other one was built for the bundle, at another time and in another place.
  const { digest, diffId } = readLayer(await buildDebianRoot(shared, lock, "python"));
  t.match(readLayer(root), { digest, diffId });
  const build = async (directory: string) => {
    const cache = new StepCache(directory);
    const before = (
      await command("find", [join(root, "root"), "-newer", join(root, "layer.json")])
    ).trim();
    const python = await cache.step("layer", {}, async (into) => {
      const tree = join(into, "tree");
      await unpackWheels(wheelsIn(wheels), tree);
      await compilePython(join(root, "root"), tree, SITE_PACKAGES);
      await packLayer(tree, into, EPOCH);
    });
    t.equal(
      (await command("find", [join(root, "root"), "-newer", join(root, "layer.json")])).trim(),
      before,
      "nobody wrote into the root",
    );
    const site = join(python, "tree", SITE_PACKAGES, "elftools");
    t.ok(readdirSync(join(site, "__pycache__")).some((name) => name.endsWith(".cpython-311.pyc")));
    t.notMatch(
      readFileSync(join(site, "__pycache__", "__init__.cpython-311.pyc"), "latin1"),
      directory,
    );
    const image = join(directory, "image");
    return writeImage(
      image,
      {
        repository: "resontech/test",
        use: "job",
        profile: "test",
        packages: {},
        pythonVersion: "3.11.2",
        config: { user: "10001:10001", env: [], entrypoint: [], cmd: [], workingDir: "/" },
      },
      [readLayer(root), readLayer(python)],
      EPOCH,
    );
  };
  const [one, two] = [await build(join(dir, "one")), await build(join(dir, "another-place"))];
  t.strictSame(two, one);
});

t.test("a wheel that leads outside its folder is refused", async (t) => {
  const dir = t.testdir();
  const wheel = join(dir, "evil-1-py3-none-any.whl");
  await command("python3", [
    "-c",
    "import sys,zipfile; zipfile.ZipFile(sys.argv[1],'w').writestr('../evil.py','x')",
    wheel,
  ]);
  await t.rejects(unpackWheels([wheel], join(dir, "tree")), {
    code: "tool_failed",
    message: /leads outside/,
  });
});
