import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import t from "tap";
import { findPaths } from "../src/find-paths.ts";

t.test("folders that vanish while it looks are not there, the others are found", async (t) => {
  const root = t.testdir({ kept: { "a.txt": "a" } });
  const script =
    'while :; do d=$(mktemp -d "$0/gone.XXXXXX"); mkdir -p "$d/a/b/c"; rm -rf "$d"; done';
  // It ends by itself should nobody be left to end it.
  const churn = spawn("timeout", ["60", "sh", "-c", script, root], { stdio: "ignore" });
  const ended = once(churn, "exit");
  try {
    const answers = new Set<string>();
    for (let look = 0; look < 200; look += 1)
      answers.add(findPaths([root, "-name", "a.txt"]).join("\n"));
    t.same([...answers], [join(root, "kept", "a.txt")]);
  } finally {
    churn.kill();
    await ended;
  }
});

t.test("an empty answer is no path", async (t) => {
  t.same(findPaths([t.testdir({}), "-name", "a.txt"]), []);
});

t.test("what can't be asked is an error in find's words", async (t) => {
  const root = t.testdir({ file: "x" });
  t.throws(() => findPaths([root, "-no-such-test"]), /no-such-test/);
  t.throws(() => findPaths([join(root, "file", "below")]), /Not a directory/);
  t.throws(
    () => findPaths([join(root, "missing")]),
    /No such file/,
    "a folder that it was told to look into",
  );
});
