import t from "tap";
import { namedPaths, namedRooms } from "../../tests/sight/named-paths.ts";

const FILE = "parts/coordinator/test/x.ts";

t.test("a path is named whole or in pieces, from the root or from its file", async (t) => {
  const named = (text: string) => namedPaths(FILE, text);
  t.same(named(`readFileSync(join(root, "policies", "realm.json"));`), ["policies/realm.json"]);
  t.same(named(`const files = ["examples/digits/run.py", 'docs/errors.md'];`), [
    "examples/digits/run.py",
    "docs/errors.md",
  ]);
  t.same(named(`start("../src/main.ts");`), ["parts/coordinator/src/main.ts"]);
  t.same(named(`import type { A } from "../src/a.ts";`), [], "an import is followed as one");
  t.same(named(`fetch("/v1/jobs"); say("jobs and/or models");`), []);
});

t.test("a room is named by its name, or by a path of it", async (t) => {
  const rooms = ["policies", "audit", "parts/agent"];
  const named = (text: string) => namedRooms(FILE, text, rooms);
  t.same(named(`join(here, "..", "..", "..", "policies", "realm.json")`), ["policies"]);
  t.same(named(`["audit", "cli"].map((room) => globSync(room))`), ["audit"]);
  t.same(named(`join(here, "..", "..", "agent", "runners")`), ["parts/agent"]);
  t.same(named(`const auditor = "auditors";`), []);
});
