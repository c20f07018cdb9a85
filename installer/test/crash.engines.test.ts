/** Power cuts where something has just become durable: the same command goes on, and ends where an unbroken one ends. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { cutAtEach, installUnbroken, run } from "./helper/cut-installs.ts";

/** Every so many points here; all of them are a proof: `npm run prove -- install-cuts`. */
const STRIDE = 6;

/** A path that a root may have, wherever this tree lies. */
const base = mkdtempSync(join(tmpdir(), "rt-cuts-"));
chmodSync(base, 0o755);
t.teardown(() => rmSync(base, { recursive: true, force: true }));
const { unbroken, points } = await installUnbroken(base);

t.test(
  "an unbroken install, then an uninstall that leaves nothing, in two places at once",
  async (t) => {
    t.ok(points > 30, `${points} points where it can be cut`);
    await Promise.all(
      unbroken.map(async ({ place, ended }) => {
        t.equal(ended.status, 0, ended.stderr);
        t.ok(
          ["process", "file"].every((kind) => place.host().some((line) => line.startsWith(kind))),
          "there is something to be removed",
        );
        const done = await place.uninstall();
        t.equal(done.status, 0, done.stderr);
        t.match(done.stderr, /nothing is left/);
        t.same(place.changes(), []);
      }),
    );
  },
);

t.test("cut at points all along it, the same command goes on to the same end", async (t) => {
  const chosen = Array.from({ length: points }, (_, at) => at + 1).filter(
    (point) => point % STRIDE === 1 || point === points,
  );
  const outcomes = await cutAtEach(unbroken, chosen);
  t.equal(outcomes.length, chosen.length);
  for (const { point, faults } of outcomes) t.same(faults, [], `cut at ${point} of ${points}`);
});

t.test(
  "an uninstall that is cut can be repeated, by the installer of the bundle if need be",
  async (t) => {
    const { place } = unbroken[0]!;
    const { root, instance } = place;
    for (const point of ["data", "etc", "releases"]) {
      t.equal((await place.install()).status, 0);
      t.equal(readFileSync(join(root, "etc", "appliance.json"), "utf8").includes(instance), true);
      // As an uninstall does: parts end first, then `current` goes.
      await run(join(root, "current", "bin", "appliance"), ["--root", root, "stop"]);
      rmSync(join(root, "current"));
      rmSync(join(root, point), { recursive: true });
      t.ok(keyOfJournal(root).includes("PUBLIC KEY"));
      const tree = join(base, "tree");
      const done = await run(join(tree, "bin", "node"), [
        join(tree, "app", "installer.mjs"),
        "uninstall",
        "--root",
        root,
        "--yes",
      ]);
      t.equal(done.status, 0, done.stderr);
      t.notOk(existsSync(root));
      t.notOk(existsSync(join("/run/resontech", instance)));
    }
    t.same(place.host(), []);
  },
);

function keyOfJournal(root: string): string {
  const line = readFileSync(join(root, "journal", "journal.jsonl"), "utf8")
    .split("\n")
    .find((text) => text.includes('"kind":"begin"'));
  return (JSON.parse(line ?? "{}") as { request: { keyPem: string } }).request.keyPem;
}
