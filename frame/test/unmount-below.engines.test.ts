import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { unmountBelow } from "../src/unmount-below.ts";

t.test("mounts go, even those that a later one hides", (t) => {
  const folder = t.testdir({ "of one install": {}, "of the next": {}, graph: {} });
  const graph = join(folder, "graph");
  const mount = (...words: string[]): void => void execFileSync("mount", words);
  mount("--bind", "--make-private", join(folder, "of one install"), graph);
  const inside = join(graph, "a container's own");
  mkdirSync(inside);
  mount("-t", "tmpfs", "none", inside);
  mount("--bind", "--make-private", join(folder, "of the next"), graph);

  unmountBelow(folder);
  t.notMatch(readFileSync("/proc/self/mountinfo", "utf8"), folder);
  t.end();
});
