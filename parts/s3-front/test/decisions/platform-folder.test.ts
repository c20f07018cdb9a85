import t from "tap";
import { platformFolderOf } from "../../src/decisions/platform-folder.ts";

t.test("a key says which folders of the platform it may lie in", async (t) => {
  for (const [key, folder] of [
    ["logs/j_1/site", { kind: "own", folder: "logs/j_1" }],
    ["ckpt/x", { kind: "own", folder: "ckpt/x" }],
    ["logs/", { kind: "own", folder: "logs/-" }],
    ["jobs/a/model_out/x", { kind: "perhaps", folders: ["jobs/a"], isReserved: true }],
    ["jobs/a/b/files_out/", { kind: "perhaps", folders: ["jobs/a/b"], isReserved: true }],
    [
      "jobs/a/model_out/files_out/x",
      { kind: "perhaps", folders: ["jobs/a", "jobs/a/model_out"], isReserved: true },
    ],
    ["data/model_out/x", { kind: "perhaps", folders: ["data"], isReserved: false }],
    ["jobs/a/model_out", null],
    ["model_out/x", null],
    ["logs", null],
    ["jobs/logs/x", null],
    ["jobs/a/model_outs/x", null],
  ] as const)
    t.strictSame(platformFolderOf(key), folder, key);
});
