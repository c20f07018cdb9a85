import t from "tap";
import { inputTargets } from "../../../src/workloads/command/input-files.ts";

t.test("each folder arrives under its own name, its objects in order", async (t) => {
  const folders = [
    { key: "jobs/a/raw", paths: ["x.csv", "deep/er/y.csv"] },
    { key: "jobs/b/files_out", paths: ["model card.md"] },
  ];
  t.same(inputTargets(folders), [
    ["payload/raw/x.csv", "payload/raw/deep/er/y.csv"],
    ["payload/files_out/model card.md"],
  ]);
  t.same(inputTargets([]), []);
});

t.test("what is no path of a file is refused by name", async (t) => {
  const refused = (paths: string[], key = "jobs/a/raw") =>
    t.throws(() => inputTargets([{ key, paths }]), { code: "input_name_invalid" }, paths.join());
  for (const path of [
    "../x",
    "a/../b",
    "a//b",
    ".",
    "a\\b",
    "a\nb",
    "x".repeat(256),
    `${"y/".repeat(600)}z`,
  ])
    refused([path]);
  refused(["a", "a/b"]);
  refused(["a/b/c", "a/b"]);
  t.throws(
    () =>
      inputTargets([
        { key: "jobs/a/raw", paths: ["x"] },
        { key: "jobs/b/raw", paths: ["y"] },
      ]),
    { code: "input_name_invalid", message: /\/jobs\/b\/raw and \/jobs\/a\/raw/ },
  );
});
