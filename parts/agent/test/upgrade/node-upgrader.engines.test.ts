/** How an agent has its node's installer bring another release. The installer here is a script that writes what it was told. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeUpgrade } from "@resontech/contracts/agent-protocol";
import { pino } from "pino";
import { wholeLines } from "@resontech/house/whole-lines";
import t, { type Test } from "tap";
import { NodeUpgrader } from "../../src/upgrade/node-upgrader.ts";
import { untilFound } from "@resontech/house/until-found";

const OLD = "0.1.0-aaaaaaaaaaaa";
const NEW = "0.2.0-bbbbbbbbbbbb";
const WISH = { order: "order-1", release: NEW };

/** @param upgrade what the installer leaves behind */
function node(t: Test, upgrade: NodeUpgrade | null) {
  const root = t.testdir();
  const [bin, dataDir] = [join(root, "releases", OLD, "bin"), join(root, "data", "agent")];
  for (const folder of [bin, dataDir]) mkdirSync(folder, { recursive: true });
  const runs = join(root, "runs");
  const left = join(root, "left");
  writeFileSync(left, JSON.stringify(upgrade));
  const leave = upgrade === null ? "" : `cp ${left} ${join(dataDir, "upgrade.json")}\n`;
  // Its process group is its own when its number is that of the group.
  const group = "$(cut -d' ' -f5 /proc/$$/stat)";
  writeFileSync(
    join(bin, "node"),
    `#!/bin/sh\n${leave}echo said\necho "$([ ${group} = $$ ] && echo own) $*" >>${runs}\n`,
  );
  chmodSync(join(bin, "node"), 0o755);
  let failures = 0;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const told = (what: string) => lines.filter((line) => line.includes(what)).length;
  const make = () =>
    new NodeUpgrader({
      ...{ root, release: OLD, dataDir, log },
      onFailure: () => void (failures += 1),
    });
  return {
    ...{ make, root, upgrader: make() },
    failures: () => failures,
    begun: () => told("brings another release"),
    ended: () => told("has ended"),
    runs: () => wholeLines(runs),
    keep: (kept: NodeUpgrade) => writeFileSync(join(dataDir, "upgrade.json"), JSON.stringify(kept)),
  };
}
const ended: NodeUpgrade = {
  ...{ order: "order-1", from: OLD, to: NEW, state: "failed" },
  failure: { code: "source_failed", message: "no way" },
};

t.test("it begins an order once, in a group of its own, and tells that it failed", async (t) => {
  const { upgrader, make, runs, root, failures, begun } = node(t, ended);
  t.equal(upgrader.failure(), undefined);
  upgrader.take(WISH);
  upgrader.take(WISH);
  await untilFound("its end", () => failures() === 1);
  const installer = join(root, "releases", OLD, "app", "installer.mjs");
  const told = `own ${installer} upgrade-node --root ${root} --order order-1 --release ${NEW}`;
  t.same(runs(), [told]);
  t.equal(readFileSync(join(root, "log", "upgrade.log"), "utf8"), "said\n");
  const failure = { order: "order-1", code: "source_failed", message: "no way" };
  t.same(upgrader.failure(), failure);

  const next = make();
  t.same(next.failure(), failure, "also by the agent that comes after it");
  next.take(WISH);
  t.equal(failures(), 2, "a coordinator that asks on has not heard of it");
  t.equal(begun(), 1);
  next.take({ ...WISH, order: "order-2" });
  await untilFound("another order", () => runs().length === 2);
  t.equal(begun(), 2);
});

t.test(
  "one that was cut goes on, and an installer that says nothing is not run on and on",
  async (t) => {
    const { upgrader, runs, keep, failures, begun, ended: isOver } = node(t, null);
    keep({ ...ended, state: "switching", failure: null });
    upgrader.take(WISH);
    await untilFound("a run", () => runs().length === 1 && isOver() === 1);
    upgrader.take(WISH);
    t.same([begun(), failures()], [1, 0]);
  },
);

t.test("the release that runs is not brought", async (t) => {
  const { upgrader, begun, keep } = node(t, null);
  upgrader.take({ ...WISH, release: OLD });
  keep({ ...ended, state: "done" });
  t.equal(upgrader.failure(), undefined, "what came to a good end later is no failure");
  upgrader.take(WISH);
  t.equal(begun(), 0);
});

t.test("while it returns, the older release tells why it is back", async (t) => {
  const { upgrader, keep } = node(t, null);
  keep({ ...ended, state: "returning" });
  t.match(upgrader.failure(), { order: "order-1", code: "source_failed" });
});
