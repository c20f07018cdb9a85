import t from "tap";
import { commitId } from "../../../src/hub/decisions/commit-id.ts";
import { checkModelFiles } from "../../../src/hub/decisions/model-files.ts";

t.test("files of a model are files anywhere", async (t) => {
  t.doesNotThrow(() => checkModelFiles(["config.json", "onnx/model.onnx", "a b/ü.bin"]));
  for (const bad of [
    ...[["../x"], ["a//b"], ["/a"], ["a/./b"], ["a\\b"], ["a\nb"], ["a;b"], ["\ud800"]],
    ...[["x".repeat(256)], [`${"d/".repeat(300)}x`], ["a", "a/b"], ["a/b/c", "a/b"]],
  ])
    t.throws(() => checkModelFiles(bad), { code: "input_name_invalid" }, JSON.stringify(bad));
});

t.test("a commit is of name, licence and content, in any order", async (t) => {
  const one = { path: "a", sizeBytes: 1, sha256: "1" };
  const two = { path: "b", sizeBytes: 2, sha256: "2" };
  const commit = commitId("lab/m", "MIT", [one, two]);
  t.match(commit, /^[0-9a-f]{40}$/);
  t.equal(commitId("lab/m", "MIT", [two, one]), commit);
  for (const other of [
    commitId("lab/n", "MIT", [one, two]),
    commitId("lab/m", "GPL", [one, two]),
    commitId("lab/m", "MIT", [one]),
    commitId("lab/m", "MIT", [one, { ...two, sha256: "3" }]),
  ])
    t.not(other, commit);
});
