import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { Journal } from "../src/journal.ts";
import { digestOf } from "../src/request.ts";
import { request } from "./helper/request.ts";

const begin = (release: string) =>
  ({ kind: "begin", release, configuration: digestOf(request), request }) as const;

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
  for (const state of ["started", "done", "started"] as const)
    journal.append({ kind: "step", step: "registry", state });
  t.same([...journal.doneSteps], []);
});

t.test(
  "a second run for the release that is there says nothing of how long a switch takes",
  async (t) => {
    const root = t.testdir({ journal: {} });
    const line = (of: object, second: number) =>
      JSON.stringify({ ...of, at: new Date(second * 1_000).toISOString() });
    const run = (release: string, from: number, to: number) => [
      line(begin(release), from),
      line({ kind: "step", step: "start", state: "started" }, from),
      line({ kind: "step", step: "start", state: "done" }, to),
    ];
    const lines = [...run("a", 0, 40), ...run("b", 100, 145), ...run("b", 200, 201)];
    writeFileSync(new Journal(root).file, `${lines.join("\n")}\n`);
    t.same([...new Journal(root).stepMs], [["start", 45_000]]);
  },
);

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

t.test(
  "a line that a power cut left half written is dropped, and the next is not glued to it",
  async (t) => {
    const root = t.testdir();
    const journal = new Journal(root);
    journal.append(begin("a"));
    appendFileSync(journal.file, '{"kind":"step","step":"imp');
    const after = new Journal(root);
    t.same([...after.doneSteps], []);
    after.append({ kind: "step", step: "import", state: "done" });
    t.same([...new Journal(root).doneSteps], ["import"]);
  },
);

t.test("a journal that was changed is refused, naming the line", async (t) => {
  const root = t.testdir();
  const journal = new Journal(root);
  journal.append(begin("a"));
  journal.append({ kind: "step", step: "import", state: "done" });
  const [first = "", second = ""] = readFileSync(journal.file, "utf8").split("\n");
  writeFileSync(journal.file, `${first}\n${second.replace("done", "dome")}\n`);
  t.throws(() => new Journal(root), { code: "journal_damaged", message: /line 2/ });
});

t.test(
  "fields of a newer release are passed over and stay in the file, and so are lines that it lets pass",
  async (t) => {
    const root = t.testdir();
    const journal = new Journal(root);
    const newer = {
      ...request,
      config: { ...request.config, ofANewerRelease: { deep: 1 } },
      ofANewerRelease: 1,
    };
    const lines = [
      {
        kind: "begin",
        release: "b",
        configuration: digestOf(newer),
        request: newer,
        at: "t",
        ofANewerRelease: 1,
      },
      { kind: "step", step: "import", state: "done", at: "t", ofANewerRelease: 1 },
      { kind: "maintenance", untilMs: 1, passOver: true, at: "t" },
      { kind: "owns", what: "socket", path: "/run/x", passOver: true, at: "t" },
    ];
    journal.append(begin("a"));
    appendFileSync(journal.file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const read = new Journal(root);
    t.same([...read.doneSteps], ["import"]);
    t.same(read.lastBegin?.request, request, "without what is not known here");
    t.same(read.owned, []);
    t.same(read.passedOver, ["maintenance", "owns"]);
    const before = readFileSync(journal.file, "utf8");
    read.append({ kind: "step", step: "stage", state: "done" });
    t.ok(readFileSync(journal.file, "utf8").startsWith(before), "it only grows");
  },
);

t.test(
  "a line of a newer release that must not be passed over is refused, and says so",
  async (t) => {
    const root = t.testdir();
    const journal = new Journal(root);
    journal.append(begin("a"));
    appendFileSync(journal.file, `${JSON.stringify({ kind: "rollback", to: "a", at: "t" })}\n`);
    t.throws(() => new Journal(root), {
      code: "journal_damaged",
      message: /line 2 .*newer release/,
    });
  },
);

t.test(
  "a request whose bytes were changed is refused, also where a name has become one that is not known",
  async (t) => {
    const root = t.testdir();
    const journal = new Journal(root);
    const asked = {
      ...request,
      config: { ...request.config, jobPorts: { from: 29_000, to: 29_099 } },
    };
    journal.append({ kind: "begin", release: "a", configuration: digestOf(asked), request: asked });
    const text = readFileSync(journal.file, "utf8");
    for (const [from, to] of [
      ['"jobPorts"', '"jobPortt"'],
      ['"keyKind":"live"', '"keyKind":"dev"'],
    ] as const) {
      t.ok(text.includes(from), from);
      writeFileSync(journal.file, text.replace(from, to));
      t.throws(() => new Journal(root), { code: "journal_damaged" });
    }
  },
);
