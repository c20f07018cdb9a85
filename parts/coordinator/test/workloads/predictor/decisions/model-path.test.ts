import t from "tap";
import { readModelPath } from "../../../../src/workloads/predictor/decisions/model-path.ts";

t.test("a name is of the folder, a slash begins a key, and a job says which", async (t) => {
  t.same(readModelPath("chat.gguf"), { from: "folder", name: "chat.gguf" });
  t.same(readModelPath("model/chat.gguf"), { from: "folder", name: "model/chat.gguf" });
  t.same(readModelPath("/weights/a b.pt"), { from: "bucket", key: "weights/a b.pt" });
  t.same(readModelPath("job:job-1a"), {
    ...{ from: "job", job: "job-1a", file: "model_out/checkpoint.pt" },
  });
  t.same(readModelPath("job:job-1a/files_out/best.pt"), {
    ...{ from: "job", job: "job-1a", file: "files_out/best.pt" },
  });
});

t.test("what is no path is refused by its own code", async (t) => {
  for (const bad of [
    ...[
      "/",
      "//a",
      "a//b",
      "../a",
      "/a/../b",
      "a/.",
      "a\nb",
      "/.sgwtmp/x",
      `/${"a".repeat(1_025)}`,
    ],
    ...[
      "job:",
      "job:/x",
      "job:a b",
      "job:a/",
      "job:a/../b",
      "job:a/b/../../c",
      "job:../a",
      "job:a\n",
    ],
  ])
    t.throws(() => readModelPath(bad), { code: "path_invalid" }, JSON.stringify(bad));
});
