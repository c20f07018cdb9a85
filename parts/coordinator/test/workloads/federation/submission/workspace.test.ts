import t from "tap";
import { readWorkspace } from "../../../../src/workloads/federation/submission/workspace.ts";

const PATHS = {
  scripts: "j/scripts",
  configs: "j/configs",
  requirements: "j/requirements",
  shards: "j/shards",
  model: null,
  outputRoot: "j",
};

/** A bucket with so many scripts and configs, each with a name of so many characters, and one shard. */
const bucketOf = (count: number, nameLength: number) => ({
  listAtOnce: async () => null,
  list: async (_bucket: string, prefix: string) => {
    const names = prefix.includes("shards")
      ? ["a.zip"]
      : prefix.includes("requirements")
        ? []
        : Array.from({ length: count }, (_, at) => String(at).padStart(nameLength, "x"));
    return names.map((name) => ({
      key: `${prefix}${name}`,
      versionId: "v",
      sizeBytes: 1,
      etag: "e",
    }));
  },
});

t.test(
  "names of scripts and configs that would not fit into one message to a node are refused",
  async (t) => {
    const fitting = await readWorkspace(bucketOf(1_000, 100), "bucket", PATHS);
    t.equal(fitting.scripts.length + fitting.configs.length, 2_000);
    await t.rejects(readWorkspace(bucketOf(1_000, 200), "bucket", PATHS), {
      code: "too_many_objects",
      message:
        /^the names of the files in \/j\/scripts and \/j\/configs are \d+ bytes long, more than 262144$/,
    });
  },
);
