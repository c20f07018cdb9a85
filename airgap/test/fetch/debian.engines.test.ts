import { readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { fetchDebian } from "../../src/fetch/debian.ts";
import { LockStaleError, readLock } from "../../src/lock/lock-file.ts";

const pin = readLock(true).deb["base"]?.find(({ name }) => name === "netbase");
if (pin === undefined) throw new Error("the lock has no netbase");

t.test("a pinned package that no mirror serves is LOCK_STALE, old → new listed", async (t) => {
  const cache = new StepCache(t.testdir());
  const error = await fetchDebian(cache, "one", [
    pin,
    { ...pin, name: "sed", version: "0.1-1" },
  ]).then(
    () => t.fail("was fetched"),
    (reason: unknown) => reason,
  );
  t.type(error, LockStaleError);
  t.match(error, {
    code: "LOCK_STALE",
    changes: [{ name: "sed", pinned: "0.1-1", served: /^\d/ }],
  });
  t.match(String(error), /sed 0\.1-1 → \d/);
  t.strictSame(readdirSync(join(cache.directory, "steps")), [], "nothing is kept");
});

t.test("a package with other bytes than the pinned ones is refused", async (t) => {
  const cache = new StepCache(t.testdir());
  await t.rejects(fetchDebian(cache, "one", [{ ...pin, sha256: "0".repeat(64) }]), {
    message: /SHA-256 .* does not pin/,
  });
  t.strictSame(readdirSync(join(cache.directory, "steps")), []);
});

t.test("exact versions are fetched once", async (t) => {
  const cache = new StepCache(t.testdir());
  const folder = await fetchDebian(cache, "one", [pin]);
  t.strictSame(readdirSync(folder), ["netbase.deb"]);
  t.equal(await fetchDebian(cache, "one", [pin]), folder);
});
