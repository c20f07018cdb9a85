import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { Journal } from "../src/journal.ts";
import { request } from "./helper/request.ts";

const begin = (release: string) => ({ kind: "begin", release, configuration: "c", request }) as const;

t.test("done steps count for the last begun run alone, across processes", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append(begin("a"));
  journal.append({ kind: "step", step: "import", state: "started" });
  journal.append({ kind: "step", step: "import", state: "done" });
  journal.append({ kind: "step", step: "stage", state: "started" });
  t.same([...new Journal(root).doneSteps], ["import"]);
  journal.append(begin("b"));
  t.same([...new Journal(root).doneSteps], []);
  t.equal(new Journal(root).lastBegin?.release, "b");
});

t.test("a step that was started again is not done", async (t) => {
  const journal = new Journal(t.testdir());
  journal.append(begin("a"));
  for (const state of ["started", "done", "started"] as const) journal.append({ kind: "step", step: "registry", state });
  t.same([...journal.doneSteps], []);
});

t.test("the ledger names what is ours once, newest first, over all runs", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.own("folder", "/a");
  journal.append(begin("a"));
  journal.own("file", "/b");
  journal.own("folder", "/a");
  t.same(
    new Journal(root).owned.map(({ what, path }) => [what, path]),
    [
      ["file", "/b"],
      ["folder", "/a"],
    ],
  );
});

t.test("a line that a power cut left half written is dropped, and the next is not glued to it", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append(begin("a"));
  appendFileSync(journal.file, '{"kind":"step","step":"imp');
  const after = new Journal(root);
  t.same([...after.doneSteps], []);
  after.append({ kind: "step", step: "import", state: "done" });
  t.same([...new Journal(root).doneSteps], ["import"]);
});

t.test("a journal that was changed is refused, naming the line", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append(begin("a"));
  journal.append({ kind: "step", step: "import", state: "done" });
  const [first = "", second = ""] = readFileSync(journal.file, "utf8").split("\n");
  writeFileSync(journal.file, `${first}\n${second.replace("import", 'import","more":"')}\n`);
  t.throws(() => new Journal(root), { code: "journal_damaged", message: /line 2/ });
});
