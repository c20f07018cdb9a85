/** The conversation of `appliance node remove` with a coordinator that answers from a script. */
import type { AskOperator, OperatorVerb } from "@resontech/contracts/operator-routes";
import t from "tap";
import { removeNode } from "../../src/commands/remove-node.ts";

type Look = { state: string; silentS: number | null; members: number };
const READY: Look = { state: "READY", silentS: 1, members: 0 };

/** Answers each look with the next of the script, the last again and again. */
function coordinator(script: readonly Look[]) {
  const asked: string[] = [];
  let looks = 0;
  const ask = (async (verb: OperatorVerb) => {
    if (verb !== "node-show") {
      asked.push(verb);
      return {};
    }
    const look = script[Math.min(looks++, script.length - 1)] ?? READY;
    const members = Array.from({ length: look.members }, () => ({ job: "j", state: "RUNNING" }));
    return { node: { ...look }, members };
  }) as AskOperator;
  const told: string[] = [];
  const deps = { ask, tell: (line: string) => void told.push(line), home: "home" };
  return { deps, asked, told };
}
const waiting = { now: false, force: false, wait: 60 };

t.test("a node is drained, waited for, and removed once it holds nothing", async (t) => {
  const { deps, asked, told } = coordinator([
    { ...READY, members: 2 },
    { ...READY, members: 2 },
    { ...READY, members: 1 },
    READY,
  ]);
  t.same(await removeNode(deps, "gpu-2", waiting), { node: "gpu-2", wasSilent: false });
  t.same(asked, ["node-drain", "node-remove"]);
  t.same(told, [
    "gpu-2 takes no new work",
    "waiting: 2 members of 1 job run there",
    "waiting: 1 members of 1 job run there",
  ]);
});

t.test("with --now its work is taken away first", async (t) => {
  const { deps, asked } = coordinator([READY]);
  await removeNode(deps, "gpu-2", { ...waiting, now: true });
  t.same(asked, ["node-evict", "node-remove"]);
});

t.test("a node that does not answer is left as it is, without force", async (t) => {
  const { deps, asked } = coordinator([{ state: "DEAD", silentS: 300, members: 1 }]);
  await t.rejects(removeNode(deps, "gpu-2", waiting), { code: "node_silent", hint: /--force/ });
  t.same(asked, []);
  t.same(await removeNode(deps, "gpu-2", { ...waiting, force: true }), {
    ...{ node: "gpu-2", wasSilent: true },
  });
});

t.test("a node that is busy for too long stays drained, and that is said", async (t) => {
  const { deps, asked } = coordinator([{ ...READY, members: 1 }]);
  await t.rejects(removeNode(deps, "gpu-2", { ...waiting, wait: 1 }), {
    code: "node_busy",
    hint: /--now/,
  });
  t.same(asked, ["node-drain"]);
});

t.test("the appliance's own host can't leave", async (t) => {
  const { deps, asked } = coordinator([READY]);
  await t.rejects(removeNode(deps, "home", waiting), { code: "node_is_home" });
  t.same(asked, []);
});
