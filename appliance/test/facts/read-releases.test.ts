import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { Layout } from "@resontech/frame/layout";
import t from "tap";
import { readReleases } from "../../src/facts/read-releases.ts";

t.test("the release that runs comes first, then those that are kept", async (t) => {
  const root = t.testdir();
  const layout = new Layout(root, "test");
  t.same(readReleases(layout), [], "nothing is installed");
  for (const [name, seconds] of [
    ["0.1.0-aaaa", 100],
    ["0.2.0-rc.1-bbbb", 200],
    ["0.3.0-cccc", 300],
  ] as const) {
    mkdirSync(join(root, "releases", name), { recursive: true });
    utimesSync(join(root, "releases", name), seconds, seconds);
  }
  symlinkSync("releases/0.2.0-rc.1-bbbb", join(root, "current"));
  const [current, ...kept] = readReleases(layout);
  t.match(current, { version: "0.2.0-rc.1", isCurrent: true });
  t.same(kept, [
    { version: "0.3.0", isCurrent: false, since: 300_000 },
    { version: "0.1.0", isCurrent: false, since: 100_000 },
  ]);
});
