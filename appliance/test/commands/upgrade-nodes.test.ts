/** The conversation of `appliance node upgrade` with a coordinator that answers from a script. */
import type { NodeReleaseFacts, NodeUpgradeFacts } from "@resontech/contracts/operator-nodes";
import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import t from "tap";
import { upgradeText } from "../../src/commands/decisions/nodes-upgrading.ts";
import { requireUpgraded, upgradeNodes } from "../../src/commands/upgrade-nodes.ts";

const OLD = "0.1.0-aaaaaaaaaaaa";
const NEW = "0.2.0-bbbbbbbbbbbb";

function facts(node: string, change: Partial<NodeUpgradeFacts> = {}): NodeReleaseFacts {
  const upgrade: NodeUpgradeFacts = {
    ...{ order: "o", release: NEW, wave: 0, failed: null, waitsFor: null },
    state: "waiting",
    ...change,
  };
  return { node, release: upgrade.state === "done" ? NEW : OLD, upgrade };
}
const turn = (node: string) => facts(node, { waitsFor: "its turn" });
const done = (node: string) => facts(node, { state: "done" });
const failed = (node: string) =>
  facts(node, { state: "failed", failed: { code: "node_not_ready", message: "no answer" } });

/** Answers each look with the next of the script, the last again and again. */
function coordinator(ordered: string[], script: NodeReleaseFacts[][]) {
  const asked: unknown[] = [];
  let looks = 0;
  const ask = (async (verb: OperatorVerb, request?: object) => {
    if (verb === "node-list") return [{ node: "home" }, { node: "a" }];
    if (verb === "node-releases")
      return { releases: script[Math.min(looks++, script.length - 1)] ?? [] };
    asked.push(request);
    const leftOut = [{ node: "old", why: "its release does not know it" }];
    return { release: NEW, ordered, current: ["c"], leftOut };
  }) as AskOperator;
  const told: string[] = [];
  return { deps: { ask, tell: (line: string) => void told.push(line), home: "home" }, asked, told };
}
const ALL = { all: true, except: [], wait: 60 };

t.test(
  "it waits until each node has the release, and names those that can't be told",
  async (t) => {
    const { deps, asked, told } = coordinator(
      ["a", "b"],
      [
        [facts("a", { state: "begun" }), turn("b")],
        [done("a"), turn("b")],
        [done("a"), done("b")],
      ],
    );
    const upgraded = await upgradeNodes(deps, [], { ...ALL, except: ["x"] });
    t.match(upgraded, { release: NEW, done: ["a", "b"], failed: [], current: ["c"] });
    t.match(asked, [{ nodes: null, except: ["x", "home"] }]);
    t.same(told, [`a, b: to bring ${NEW}`, `a has ${NEW}`, `b has ${NEW}`]);
    t.throws(() => requireUpgraded(upgraded), { code: "nodes_left_out", message: /^old: / });
    t.doesNotThrow(() => requireUpgraded({ ...upgraded, leftOut: [] }));
  },
);

t.test("one that failed ends it, by name, with those that were held back", async (t) => {
  const held = facts("b", { waitsFor: "nothing, for another failed" });
  const { deps, told } = coordinator(["a", "b"], [[failed("a"), held]]);
  const upgraded = await upgradeNodes(deps, ["a", "b"], { ...ALL, all: false });
  t.match(told, [`a, b: to bring ${NEW}`, "a failed: no answer [node_not_ready]"]);
  t.throws(() => requireUpgraded(upgraded), {
    code: "node_upgrade_failed",
    message: /^a \(node_not_ready\): not on .*held back: b$/,
    hint: /--except/,
  });
});

t.test("one that is away is not waited for", async (t) => {
  const { deps, told } = coordinator(["a", "b"], [[done("a"), facts("b", { waitsFor: "itself" })]]);
  const upgraded = await upgradeNodes(deps, [], ALL);
  t.same(upgraded.away, ["b"]);
  t.match(told.at(-1), /^b does not answer; it brings .* when it is back$/);
  t.doesNotThrow(() => requireUpgraded({ ...upgraded, leftOut: [] }));
});

t.test("after its time it goes on without the command", async (t) => {
  const { deps } = coordinator(["a"], [[facts("a", { state: "begun" })]]);
  const upgraded = await upgradeNodes(deps, ["a"], { all: false, except: [], wait: 1 });
  t.throws(() => requireUpgraded(upgraded), { code: "nodes_under_way" });
});

t.test("an order that another one replaced is not taken for done", async (t) => {
  const { deps } = coordinator(["a"], [[{ node: "a", release: OLD, upgrade: null }]]);
  t.same((await upgradeNodes(deps, ["a"], { ...ALL, all: false })).held, ["a"]);
});

t.test("the appliance's own host is upgraded otherwise", async (t) => {
  const { deps, asked } = coordinator([], []);
  await t.rejects(upgradeNodes(deps, ["home"], { ...ALL, all: false }), { code: "node_is_home" });
  t.same(asked, []);
});

t.test("a table says in a word what a node waits for", async (t) => {
  t.equal(upgradeText({ upgrade: null }), "");
  t.equal(upgradeText(done("a")), "");
  t.match(upgradeText(turn("a")), /when its turn comes/);
  t.match(upgradeText(facts("a", { waitsFor: "itself" })), /once it is back/);
  t.match(upgradeText(facts("a", { waitsFor: "nothing, for another failed" })), /^held/);
  t.match(upgradeText(facts("a", { state: "begun" })), /^brings/);
  t.equal(upgradeText(failed("a")), "failed: node_not_ready");
});
