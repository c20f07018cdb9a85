import t from "tap";
import { namedRooms, roomClosure, SHIPPED } from "../tests/room-closure.ts";
import { ships } from "../tests/ships.ts";

const tree = {
  imports: new Map([
    ["cli/test/a.test.ts", ["cli/src/a.ts", "audit/test/helper.ts"]],
    ["audit/test/helper.ts", ["frame/src/turns.ts", "node_modules/tap/index.js"]],
    ["cli/src/a.ts", ["cli/test/a.test.ts"]],
    ["parts/coordinator/src/main.ts", ["contracts/src/x.ts"]],
    ["parts/door/test/b.engines.test.ts", []],
  ]),
  programs: new Map([["audit/test/helper.ts", ["parts/coordinator/src/main.ts"]]]),
  rooms: new Map([
    ["contracts/src/x.ts", ["policies"]],
    ["parts/door/test/b.engines.test.ts", ["RT_TEST_BUNDLE"]],
  ]),
};

t.test("a test sees its room, what it imports and starts, and what these name", async (t) => {
  t.same(roomClosure("cli/test/a.test.ts", tree), [
    ...["audit", "cli", "contracts", "frame", "parts/coordinator", "policies"],
  ]);
});

t.test("who uses a bundle sees all that ships, a reader of documents everything", async (t) => {
  t.same(roomClosure("parts/door/test/b.engines.test.ts", tree), ["parts/door", SHIPPED]);
  t.same(roomClosure("acceptance/test/operator.test.ts", tree), ["acceptance", SHIPPED]);
  t.equal(roomClosure("dev/test/documents.test.ts", tree), null);
});

t.test("tests, proofs and documents don't ship", async (t) => {
  for (const file of [
    "audit/src/a.ts",
    "policies/realm.json",
    "install.sh",
    "dashboard/index.html",
  ])
    t.ok(ships(file), file);
  for (const file of ["audit/test/a.ts", "proofs/a.ts", "docs/a.md", "house/src/a.ts"])
    t.notOk(ships(file), file);
});

t.test(
  "a room is named by a path of it, in one string or in pieces, and by no other word",
  async (t) => {
    const rooms = ["policies", "audit", "parts/agent"];
    const named = (text: string) => namedRooms("parts/coordinator/test/x.ts", text, rooms);
    t.same(named(`readFileSync(join(here, "..", "..", "..", "policies", "realm.json"))`), [
      "policies",
    ]);
    t.same(named(`join(root,\n  "audit/test/vectors",\n)`), ["audit"]);
    t.same(named(`readFileSync("../../agent/init/x.go")`), ["parts/agent"]);
    t.same(named(`join(here, "..", "..", "agent", "runners")`), ["parts/agent"]);
    t.same(named(`join(root, "parts", "agent", "runners")`), ["parts/agent"]);
    t.same(named(`join(node, "agent")`), [], "a folder of a node");
    t.same(named(`from "../agent/protocol.ts"`), [], "a folder of its own room");
    t.same(named(`const family = "agent"; log.info("audit");`), []);
    t.same(named(`process.env["RT_TEST_BUNDLE"]`), ["RT_TEST_BUNDLE"]);
  },
);
