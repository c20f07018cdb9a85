import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  Inventory,
  type InventoryWorker,
  NodeRegistered,
} from "@resontech/contracts/agent-protocol";
import t from "tap";
import { Value } from "typebox/value";
import { WorkerTrials } from "../../src/trials/worker-trials.ts";

const gpu = (n: number, change: Partial<InventoryWorker> = {}): InventoryWorker => ({
  ...{ id: `n-${n}`, kind: "gpu", model: "t4", memoryBytes: 1, vendor: "nvidia", healthy: true },
  ...{ device: `GPU-${n}`, driver: "580.1", ...change },
});
const cpu = (n: number): InventoryWorker => ({
  ...{ id: `n-${n}`, kind: "cpu", model: "cpu", memoryBytes: 1, healthy: true },
});
const inventory = (...workers: InventoryWorker[]): Inventory => ({
  ...{ hostname: "h", os: "o", kernel: "k", cpuModel: "c", cpuCores: 1, memoryBytes: 1 },
  ...{ diskFreeBytes: 1, containerEngine: "podman", workers },
});
const nobody = new Set<string>();
const ids = (workers: readonly InventoryWorker[]) => workers.map(({ id }) => id);
const passed = { state: "passed", image: "i" } as const;

t.test("a device takes no work before it has passed, and what is not well is not tried", (t) => {
  const trials = new WorkerTrials(t.testdir(), false);
  const node = inventory(gpu(0), gpu(1, { healthy: false, reason: "Xid 79" }), gpu(2));
  t.match(trials.mark(node).workers, [
    { healthy: false, onTrial: true },
    { healthy: false, onTrial: undefined, reason: "Xid 79" },
    { healthy: false, onTrial: true },
  ]);
  t.same(ids(trials.due(node, new Set(["n-2"]), 0)), ["n-0"], "a member has the other");
  trials.note(gpu(0), passed, 0);
  trials.note(gpu(2), { state: "failed", image: "i", why: "torch\nfinds 0" }, 0);
  t.match(trials.mark(node).workers, [
    { healthy: true },
    {},
    { healthy: false, onTrial: undefined, reason: "its trial failed: torch finds 0" },
  ]);
  t.same(ids(trials.due(node, nobody, 0)), []);
  t.match(trials.told(node), [
    { worker: "n-0", state: "passed" },
    { worker: "n-2", state: "failed", why: "torch finds 0", image: "i" },
  ]);
  trials.undrained();
  t.same(ids(trials.due(node, nobody, 0)), ["n-2"]);
  t.end();
});

t.test("an operator's word while a trial runs is not lost", (t) => {
  const trials = new WorkerTrials(t.testdir(), false);
  const node = inventory(gpu(0), gpu(1));
  const { words } = trials;
  trials.undrained();
  trials.note(gpu(0), { state: "failed", image: "i", why: "before the word" }, 0, words);
  t.same(ids(trials.due(node, nobody, 0)), ["n-0", "n-1"], "it is tried again");
  trials.note(gpu(0), passed, 0, words);
  t.same(ids(trials.due(node, nobody, 0)), ["n-1"], "a pass is one");
  t.end();
});

t.test("a pass is of one device under one driver, and outlives the process", (t) => {
  const dir = t.testdir();
  new WorkerTrials(dir, false).note(gpu(0), passed, 0);
  new WorkerTrials(dir, false).note(gpu(1), { state: "failed", image: "i", why: "w" }, 0);
  const next = new WorkerTrials(dir, false);
  const node = inventory(gpu(0), gpu(1));
  t.same(ids(next.due(node, nobody, 0)), ["n-1"]);
  t.same(ids(next.due(inventory(gpu(0, { driver: "590.1" })), nobody, 0)), ["n-0"]);
  writeFileSync(join(dir, "trials.json"), "{");
  t.same(ids(new WorkerTrials(dir, false).due(node, nobody, 0)), ["n-0", "n-1"], "a damaged file");
  t.end();
});

t.test(
  "what could not run is tried again; where there is no image the worker stays as it is",
  (t) => {
    const trials = new WorkerTrials(t.testdir(), false);
    const node = inventory(gpu(0), gpu(1));
    trials.note(gpu(0), { state: "put-off", image: "i", why: "no route" }, 0);
    trials.note(gpu(1), { state: "none", why: "of a vendor (nvidia) that no image is for" }, 0);
    t.match(trials.mark(node).workers, [
      { healthy: false, reason: /could not run, and is tried again: no route/ },
      { healthy: true },
    ]);
    t.same(ids(trials.due(node, nobody, 44_000)), [], "not at once");
    t.same(ids(trials.due(node, nobody, 46_000)), ["n-0"]);
    t.match(trials.told(node), [{ state: "failed" }, { state: "none" }]);
    t.end();
  },
);

t.test("whatever a trial says, the inventory and what the installer reads stay messages", (t) => {
  const trials = new WorkerTrials(t.testdir(), false);
  const node = inventory(gpu(0), gpu(1));
  const why = "long ".repeat(1_000);
  trials.note(gpu(0), { state: "put-off", image: null, why }, 0);
  trials.note(gpu(1), { state: "failed", image: "i", why }, 0);
  const marked = trials.mark(node);
  t.ok(Value.Check(Inventory, marked));
  t.ok(Value.Check(NodeRegistered, { workers: marked.workers, trials: trials.told(node) }));
  t.end();
});

t.test("CPU slots are tried where the node asks for it, one for all", (t) => {
  const node = inventory(cpu(0), cpu(1));
  const home = new WorkerTrials(t.testdir(), false);
  t.match(home.mark(node).workers, [{ healthy: true }, { healthy: true }]);
  t.same(home.told(node), []);
  const joined = new WorkerTrials(t.testdir(), true);
  t.same(ids(joined.due(node, nobody, 0)), ["n-0"]);
  joined.note(cpu(0), passed, 0);
  t.match(joined.mark(node).workers, [{ healthy: true }, { healthy: true }]);
  t.end();
});

t.test("with a coordinator that knows no trials nothing is tried, or kept from work", (t) => {
  const trials = new WorkerTrials(t.testdir(), true);
  const node = inventory(gpu(0));
  t.equal(trials.want(false), true, "news");
  t.equal(trials.want(false), false);
  t.match(trials.mark(node).workers, [{ healthy: true }]);
  t.same(trials.due(node, nobody, 0), []);
  t.end();
});
