import type { JobParametersReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import { lineDiff } from "../../src/pages/submit/line-diff.ts";
import { commandInCode, folderInCode, variantInCode } from "../../src/pages/submit/same-in-code.ts";
import {
  bodyOfDraft,
  draftOf,
  environmentOf,
  fieldChanges,
  keyOfChange,
  linesOf,
  nextName,
} from "../../src/pages/submit/variant-draft.ts";

const JOB: JobParametersReply = {
  ...{ name: "digits", kind: "command", projectId: "p", script: "jobs/d/scripts/a.py" },
  ...{ arguments: ["--level", "1"], environment: { SEED: "7" }, gpuModels: ["cpu"] },
  ...{ workerIds: null, onlyMineWorkers: false, maxPricePerGpuHourCents: 100 },
  ...{ estimatedMemoryMb: null, timeLimitMinutes: 30, images: [], rounds: null, minSites: 0 },
  ...{ codeDigest: "", inputs: [] },
};

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

t.test("a changed file never lies where the platform's outputs do", async (t) => {
  const input = { versionId: "v", sizeBytes: 1, etag: "e" };
  const key = (kind: string, from: string, path: string) =>
    keyOfChange("d-2", { ...input, kind, key: from, path });
  t.equal(key("script", "jobs/d/scripts/a.py", "scripts/a.py"), "jobs/d-2/scripts/a.py");
  t.equal(key("shard", "jobs/d/shards/s_0.zip", "shard.zip"), "jobs/d-2/shards/s_0.zip");
  t.equal(key("file", "jobs/e/model_out/x.pt", "payload/model_out/x.pt"), "jobs/d-2/payload/x.pt");
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
    ...{ name: "it's", models: "cpu,h100", price: "5", minutes: "" },
  });
  t.equal(
    folder.shell,
    "resontech submit study/ --name 'it'\\''s' --gpu-models cpu,h100 --max-price 5",
  );
  t.match(folder.python, /name="it's",[^]*gpu_models=\["cpu", "h100"\],[^]*=0\.05,/);
  const variant = variantInCode("job-1", { timeLimitMinutes: null, arguments: ["-x"] }, [
    { path: "scripts/a.py", input: "jobs/d/scripts/a.py", key: "jobs/d-2/scripts/a.py" },
  ]);
  t.equal(
    variant.shell,
    "resontech jobs resubmit job-1 --minutes any --file scripts/a.py=scripts/a.py --argument=-x",
  );
  t.match(variant.python, /"timeLimitMinutes": None/);
  const command = commandInCode("a.py", {
    ...{ kind: "command", name: "n", scriptPath: "/jobs/n/scripts/a.py" },
  });
  t.match(command.shell, /^resontech storage put a\.py jobs\/n\/scripts\/a\.py\ncurl /);
});
