import t from "tap";
import {
  type ChangedFiles,
  faultOfFiles,
  kindOfPlace,
  placeOf,
} from "../../src/http/changed-files.ts";

const FEDERATION = {
  kind: "federation",
  inputs: [
    { kind: "script", key: "jobs/d/scripts/model_def.py", path: "scripts/model_def.py" },
    { kind: "shard", key: "jobs/d/shards/shard_0.zip", path: "shard.zip" },
  ],
};
const COMMAND = {
  kind: "command",
  inputs: [
    { kind: "script", key: "jobs/c/scripts/a.py", path: "scripts/a.py" },
    { kind: "file", key: "jobs/c/raw/a.csv", path: "payload/raw/a.csv" },
  ],
};
const faultOf = (changes: ChangedFiles, job = FEDERATION) =>
  faultOfFiles(job, changes)?.code ?? null;
const added = (...paths: string[]): ChangedFiles => ({
  addedFiles: paths.map((path) => ({ path, key: `jobs/e/${path}` })),
});

t.test("files are added, removed and put in place of others, in one go", async (t) => {
  t.equal(faultOf({}), null);
  t.equal(
    faultOf({
      files: [{ input: "jobs/d/shards/shard_0.zip", key: "jobs/e/shards/shard_0.zip" }],
      removedFiles: ["jobs/d/scripts/model_def.py"],
      // What was removed makes room.
      ...added("scripts/model_def.py", "scripts/deep/help.py", "shards/more.ZIP", "model/a.pt"),
    }),
    null,
  );
  t.equal(faultOf(added("payload/raw/b.csv", "payload/other/b.csv"), COMMAND), null);
});

t.test("what no job reads is no file of it", async (t) => {
  for (const path of ["notes.txt", "scripts", "other/a.py", "shards/a.csv", "shards/deep/a.zip"])
    t.equal(faultOf(added(path)), "file_place_unknown", path);
  for (const path of ["scripts/b.py", "payload/b.csv", "configs/meta.json", "toString/a/b"])
    t.equal(faultOf(added(path), COMMAND), "file_place_unknown", path);
  t.equal(
    faultOf({ removedFiles: ["jobs/c/scripts/a.py"] }, COMMAND),
    "file_place_unknown",
    "a command without a script",
  );
  t.equal(faultOf({ removedFiles: ["jobs/c/raw/a.csv"] }, COMMAND), null);
  t.equal(kindOfPlace("predictor", "scripts/a.py"), null);
});

t.test("a name that no file can have is told apart from one that is taken", async (t) => {
  for (const path of ["scripts//a.py", "scripts/../a.py", "/scripts/a.py", "scripts/a\n.py"])
    t.equal(faultOf(added(path)), "input_name_invalid", JSON.stringify(path));
  t.equal(faultOf(added(`scripts/${"é".repeat(128)}`)), "input_name_invalid", "256 bytes");
  t.equal(faultOf(added("scripts/a", "scripts/a/b.py")), "input_name_invalid", "file and folder");
  t.equal(faultOf(added("scripts/a/b.py", "scripts/a")), "input_name_invalid", "folder and file");
  t.equal(faultOf(added("scripts/model_def.py/b.py")), "input_name_invalid");
  for (const path of ["scripts/model_def.py", "shards/shard_0.zip"])
    t.equal(faultOf(added(path)), "file_named_twice", path);
  t.equal(faultOf(added("scripts/a.py", "scripts/a.py")), "file_named_twice");
});

t.test("one file is changed in one way", async (t) => {
  const input = "jobs/d/scripts/model_def.py";
  const other = { input, key: "jobs/e/scripts/model_def.py" };
  t.equal(faultOf({ files: [other], removedFiles: [input] }), "file_named_twice");
  t.equal(faultOf({ files: [other, other] }), "file_named_twice");
  t.equal(faultOf({ removedFiles: [input, input] }), "file_named_twice");
  t.equal(faultOf({ removedFiles: ["jobs/d/scripts/none.py"] }), "not_found");
});

t.test("a place is where whoever uploads a folder puts the file", async (t) => {
  t.same(FEDERATION.inputs.map(placeOf), ["scripts/model_def.py", "shards/shard_0.zip"]);
});
