import t from "tap";
import { ProcessCosts, type ProcessSample } from "../tests/process-costs.ts";
import { parseProcess } from "../tests/read-processes.ts";

const sample = (
  pid: number,
  parent: number,
  cpuSeconds: number,
  { cwd = null, startedAt = pid }: { cwd?: string | null; startedAt?: number } = {},
): ProcessSample => ({ pid, parent, startedAt, cpuSeconds, cwd: () => cwd });
const init = sample(1, 0, 9);

t.test(
  "a container counts for the file that started its engine, whoever is its parent",
  async (t) => {
    const costs = new ProcessCosts();
    costs.addRoot(10, "a", true);
    const dir = "/tmp/rt-a";
    costs.observe([init, sample(10, 1, 1), sample(11, 10, 2, { cwd: dir })]);
    const monitor = sample(20, 1, 0, { cwd: dir });
    costs.observe([init, sample(10, 1, 1), sample(11, 10, 2, { cwd: dir }), monitor]);
    costs.observe([init, sample(10, 1, 1), sample(11, 10, 2), monitor, sample(21, 20, 7)]);
    costs.observe([init, sample(10, 1, 9)]);
    t.same([...costs.seconds], [["a", 7]]);
  },
);

t.test("what a parent has waited for is in the parent's account alone", async (t) => {
  const costs = new ProcessCosts();
  costs.addRoot(10, "a", true);
  const daemon = (cpuSeconds: number) => sample(11, 1, cpuSeconds);
  costs.observe([init, sample(10, 1, 1), sample(11, 10, 1)]);
  costs.observe([init, sample(10, 1, 1), daemon(1), sample(12, 11, 4)]);
  costs.observe([init, sample(10, 1, 1), daemon(6)]);
  t.same([...costs.seconds], [["a", 6]]);
  costs.observe([init]);
  t.same([...costs.seconds], [["a", 6]]);
});

t.test("a child of the file's own process is in the file's own note", async (t) => {
  const costs = new ProcessCosts();
  costs.addRoot(10, "a", true);
  costs.observe([init, sample(10, 1, 1), sample(11, 10, 5)]);
  t.same([...costs.seconds], []);
  costs.observe([init]);
  t.same([...costs.seconds], []);
});

t.test("what the run itself starts counts under the name of the time", async (t) => {
  const costs = new ProcessCosts();
  costs.addRoot(5, "build", false);
  costs.observe([init, sample(5, 1, 1), sample(6, 5, 3)]);
  costs.addRoot(5, "appliance", false);
  costs.observe([init, sample(5, 1, 4), sample(7, 5, 2)]);
  t.same(
    [...costs.seconds],
    [
      ["build", 3],
      ["appliance", 2],
    ],
  );
});

t.test("a part that several use is named with all that it has started, also before", async (t) => {
  const costs = new ProcessCosts();
  costs.addRoot(5, "build", false);
  costs.observe([init, sample(5, 1, 1), sample(6, 5, 1), sample(7, 6, 3)]);
  costs.addShared(6, "keycloak");
  costs.observe([init, sample(5, 1, 1), sample(6, 5, 1), sample(7, 6, 8)]);
  t.same([...costs.seconds], [["keycloak", 9]]);
});

t.test("another process of the same number is another's", async (t) => {
  const costs = new ProcessCosts();
  costs.addRoot(10, "a", true);
  costs.observe([init, sample(10, 1, 1), sample(11, 10, 1)]);
  costs.observe([init, sample(11, 1, 2)]);
  costs.observe([init, sample(11, 1, 50, { startedAt: 900 })]);
  t.same([...costs.seconds], [["a", 2]]);
  t.same(costs.runningOf("a"), []);
});

t.test("a name with blanks and parentheses moves no field", async (t) => {
  const fields = Array.from({ length: 50 }, (_, index) => index + 3);
  const read = parseProcess(7, `7 (a (b) c) S ${fields.slice(1).join(" ")}`);
  t.match(read, { pid: 7, parent: 4, startedAt: 22, cpuSeconds: (14 + 15 + 16 + 17) / 100 });
});
