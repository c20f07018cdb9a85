import { appendFileSync } from "node:fs";
import t from "tap";
import { Journal } from "../src/journal.ts";

const at = "2026-01-01T00:00:00Z";

t.test("done steps count for the last begun run alone, across processes", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append({ kind: "begin", release: "a", configuration: "c", at });
  journal.append({ kind: "step", step: "import", state: "started", at });
  journal.append({ kind: "step", step: "import", state: "done", at });
  journal.append({ kind: "step", step: "stage", state: "started", at });
  t.same([...new Journal(root).doneSteps], ["import"]);
  journal.append({ kind: "begin", release: "b", configuration: "c", at });
  t.same([...new Journal(root).doneSteps], []);
  t.equal(new Journal(root).lastBegin?.release, "b");
});

t.test("a line that a power cut left half written is dropped", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append({ kind: "begin", release: "a", configuration: "c", at });
  appendFileSync(journal.file, '{"kind":"step","step":"imp');
  t.equal(new Journal(root).lines.length, 1);
});
