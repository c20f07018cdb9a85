import { bodyOfFiles } from "@resontech/contracts/changed-files";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import { lineDiff } from "../../src/pages/submit/line-diff.ts";
import { commandInCode, folderInCode, variantInCode } from "../../src/pages/submit/same-in-code.ts";
import {
  bodyOfDraft,
  draftOf,
  environmentOf,
  fieldChanges,
  linesOf,
  nextName,
} from "../../src/pages/submit/variant-draft.ts";
import {
  changedInputs,
  type FileChange,
  faultOfChanges,
  filesToStore,
  NO_CHANGES,
  placeOfNew,
  removedInputs,
} from "../../src/pages/submit/file-changes.ts";

const JOB: JobParametersReply = {
  ...{ name: "digits", kind: "command", projectId: "p", script: "jobs/d/scripts/a.py" },
  ...{ arguments: ["--level", "1"], environment: { SEED: "7" }, gpuModels: ["cpu"] },
  ...{
    workerIds: null,
    class: null,
    preemptible: null,
    pool: null,
    onlyMineWorkers: false,
    workersPerMember: 1,
    cpusPerMember: null,
    hostMemoryMbPerMember: null,
    ranks: null,
    strategy: null,
    maxPricePerGpuHourCents: 100,
  },
  ...{ estimatedMemoryMb: null, timeLimitMinutes: 30, images: [], rounds: null, minSites: 0 },
  ...{ codeDigest: "", inputs: [] },
};

t.test("a pool is kept, changed for another, or left", async (t) => {
  const before = { ...JOB, pool: "big" };
  const draft = draftOf(before);
  t.same(bodyOfDraft(draft, before), { name: "digits 2" });
  t.match(bodyOfDraft({ ...draft, pool: "small" }, before), { pool: "small" });
  t.match(bodyOfDraft({ ...draft, pool: "" }, before), { pool: null });
  t.match(
    fieldChanges({ ...draft, pool: "" }, before).find(({ what }) => what === "Pool"),
    { before: "big", after: "wherever it is let in" },
  );
});

t.test("a draft that was not changed says nothing but a name of its own", async (t) => {
  const draft = draftOf(JOB);
  t.same(bodyOfDraft(draft, JOB), { name: "digits 2" });
  t.same(bodyOfDraft({ ...draft, name: "digits" }, JOB), {});
  t.same(fieldChanges(draft, JOB), [{ what: "Name", before: "digits", after: "digits 2" }]);
});

t.test("what was emptied is taken away, and what was changed is said", async (t) => {
  const draft = {
    ...{ ...draftOf(JOB), name: "digits", minutes: "", price: "5", models: "" },
    ...{ arguments: "--level\n2\n", environment: "SEED=8\n\n FAST = a=b" },
  };
  t.same(bodyOfDraft(draft, JOB), {
    ...{ gpuModels: null, maxPricePerGpuHourCents: 5, timeLimitMinutes: null },
    ...{ arguments: ["--level", "2"], environment: { SEED: "8", FAST: " a=b" } },
  });
  t.match(
    fieldChanges(draft, JOB).find(({ what }) => what === "Time limit"),
    { before: "30 min", after: "none" },
  );
});

t.test("names count on, and lines are what stands on them", async (t) => {
  t.same(["digits", "digits 2", "digits 9"].map(nextName), ["digits 2", "digits 3", "digits 10"]);
  t.same(linesOf(""), []);
  t.same(linesOf("a b\n\nc\n"), ["a b", "", "c"]);
  t.same(environmentOf("ALONE"), { ALONE: "" });
});

const inputOf = (kind: string, key: string, path: string) => ({
  ...{ versionId: "v", sizeBytes: 1, etag: "e" },
  ...{ kind, key, path },
});
const changing = (...of: [string, FileChange][]) => ({ ...NO_CHANGES, of: new Map(of) });

t.test("a changed file never lies where the platform's outputs do", async (t) => {
  const key = (kind: string, from: string, path: string) => {
    const changes = changing([from, { kind: "edited", before: "", text: "x" }]);
    return filesToStore([inputOf(kind, from, path)], changes, "d-2")[0]?.file.key;
  };
  t.equal(key("script", "jobs/d/scripts/a.py", "scripts/a.py"), "jobs/d-2/scripts/a.py");
  t.equal(key("shard", "jobs/d/shards/s_0.zip", "shard.zip"), "jobs/d-2/shards/s_0.zip");
  t.equal(key("file", "jobs/e/model_out/x.pt", "payload/model_out/x.pt"), "jobs/d-2/payload/x.pt");
});

t.test("of files what changes is sent, and nothing else", async (t) => {
  const inputs = [
    inputOf("script", "jobs/d/scripts/a.py", "scripts/a.py"),
    inputOf("script", "jobs/d/scripts/b.py", "scripts/b.py"),
    inputOf("config", "jobs/d/configs/meta.json", "configs/meta.json"),
  ];
  const changes = {
    ...changing(
      ["jobs/d/scripts/a.py", { kind: "edited", before: "a", text: "a" }],
      ["jobs/d/scripts/b.py", { kind: "removed" }],
      ["jobs/d/configs/meta.json", { kind: "edited", before: "{}", text: "{ }" }],
    ),
    added: [{ id: "1", path: "scripts/c.py", content: "C = 1" }],
  };
  t.same(
    changedInputs(inputs, changes).map(({ input }) => input.path),
    ["scripts/b.py", "configs/meta.json"],
  );
  const stored = filesToStore(inputs, changes, "e").map(({ file }) => file);
  t.same(bodyOfFiles(stored, removedInputs(inputs, changes)), {
    files: [{ input: "jobs/d/configs/meta.json", key: "jobs/e/configs/meta.json" }],
    addedFiles: [{ path: "scripts/c.py", key: "jobs/e/scripts/c.py" }],
    removedFiles: ["jobs/d/scripts/b.py"],
  });
  t.same(bodyOfFiles([], removedInputs(inputs, NO_CHANGES)), {});
});

t.test("a new file has a place at once, and a place that is none is told", async (t) => {
  const federation = { kind: "federation", inputs: [] };
  const places = ["a.py", "b.ZIP", "meta.json", "requirements.txt"].map((name) =>
    placeOfNew(federation, name),
  );
  t.same(places, [
    "scripts/a.py",
    "shards/b.ZIP",
    "configs/meta.json",
    "requirements/requirements.txt",
  ]);
  t.equal(placeOfNew({ ...JOB, inputs: [] }, "a.csv"), "payload/inputs/a.csv");
  const beside = [inputOf("file", "jobs/d/raw/a.csv", "payload/raw/a.csv")];
  t.equal(placeOfNew({ ...JOB, inputs: beside }, "b.csv"), "payload/raw/b.csv");
  const adding = (path: string) =>
    faultOfChanges(federation, { ...NO_CHANGES, added: [{ id: "1", path, content: "" }] })?.code;
  t.equal(adding("notes/a.py"), "file_place_unknown");
  t.equal(adding("scripts/a.py"), undefined);
});

t.test("lines that went and came stand with those around them", async (t) => {
  const text = (lines: string[]) => lines.join("\n");
  const before = ["a", "b", "c", "d", "e", "f", "g"];
  const said = lineDiff(text(before), text(["a", "b", "c", "D", "e", "f", "g"]), 1).map(
    ({ sign, text: line }) => `${sign}${line}`,
  );
  t.same(said, [" c", "-d", "+D", " e"]);
  t.same(lineDiff("a", "a"), []);
  t.same(
    lineDiff("", "a\nb", 0).map(({ sign, text: line }) => sign + line),
    ["-", "+a", "+b"],
  );
  const kept = lineDiff(text(["x", "a", "y"]), text(["a", "z"]), 0).map(({ sign }) => sign);
  t.same(kept, ["-", "-", "+"]);
});

t.test("a form is told in code that says the same, whatever a name holds", async (t) => {
  const folder = folderInCode("study", {
    ...{ name: "it's", models: "cpu,h100", price: "5", minutes: "", jobClass: "", makesWay: "" },
    pool: "big",
  });
  t.equal(
    folder.shell,
    "resontech submit study/ --name 'it'\\''s' --gpu-models cpu,h100 --max-price 5 --pool big",
  );
  t.match(folder.python, /name="it's",[^]*gpu_models=\["cpu", "h100"\],[^]*=0\.05,/);
  const variant = variantInCode(
    "job-1",
    { timeLimitMinutes: null, arguments: ["-x"] },
    {
      files: [{ input: "jobs/d/scripts/a.py", key: "jobs/d-2/scripts/a.py" }],
      addedFiles: [{ path: "scripts/it's.py", key: "jobs/d-2/scripts/it's.py" }],
      removedFiles: ["jobs/d/shards/s_0.zip"],
    },
    [
      inputOf("script", "jobs/d/scripts/a.py", "scripts/a.py"),
      inputOf("shard", "jobs/d/shards/s_0.zip", "shard.zip"),
    ],
  );
  t.equal(
    variant.shell,
    [
      "resontech jobs resubmit job-1 --minutes any --file scripts/a.py=scripts/a.py",
      "--add 'scripts/it'\\''s.py=scripts/it'\\''s.py' --remove shards/s_0.zip --argument=-x",
    ].join(" "),
  );
  t.match(variant.python, /"timeLimitMinutes": None/);
  const command = commandInCode(
    "a.py",
    {
      ...{ kind: "command", name: "n", scriptPath: "/jobs/n/scripts/a.py" },
    },
    [],
  );
  t.match(command.shell, /^resontech storage put a\.py jobs\/n\/scripts\/a\.py\n[^]*\ncurl /);
});
