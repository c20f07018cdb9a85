import t from "tap";
import { namedRooms, roomClosure } from "../tests/room-closure.ts";

const tree = {
  imports: new Map([
    ["cli/test/a.test.ts", ["cli/src/a.ts", "audit/test/helper.ts"]],
    ["audit/test/helper.ts", ["daemon/src/turns.ts", "node_modules/tap/index.js"]],
    ["cli/src/a.ts", ["cli/test/a.test.ts"]],
    ["coordinator/src/main.ts", ["contracts/src/x.ts"]],
    ["gateway/test/b.engines.test.ts", []],
  ]),
  programs: new Map([["audit/test/helper.ts", ["coordinator/src/main.ts"]]]),
  rooms: new Map([
    ["contracts/src/x.ts", ["policies"]],
    ["gateway/test/b.engines.test.ts", ["RT_TEST_BUNDLE"]],
  ]),
};

t.test("a test sees its room, what it imports and starts, and what these name", async (t) => {
  t.same(roomClosure("cli/test/a.test.ts", tree), [
    ...["audit", "cli", "contracts", "coordinator", "daemon", "policies"],
  ]);
});

t.test("whoever uses a bundle, the appliance or all documents sees everything", async (t) => {
  for (const test of [
    "gateway/test/b.engines.test.ts",
    "acceptance/test/operator.test.ts",
    "dev/test/documents.test.ts",
  ])
    t.equal(roomClosure(test, tree), null, test);
});

t.test(
  "a room is named by a path of it, in one string or in pieces, and by no other word",
  async (t) => {
    const rooms = ["policies", "audit", "agent"];
    t.same(namedRooms(`readFileSync(join(here, "..", "..", "policies", "realm.json"))`, rooms), [
      "policies",
    ]);
    t.same(namedRooms(`join(root,\n  "audit/test/vectors",\n)`, rooms), ["audit"]);
    t.same(namedRooms(`new URL("../../agent/init/x.go", import.meta.url)`, rooms), ["agent"]);
    t.same(namedRooms(`const family = "agent"; log.info("audit");`, rooms), []);
    t.same(namedRooms(`process.env["RT_TEST_BUNDLE"]`, rooms), ["RT_TEST_BUNDLE"]);
  },
);
