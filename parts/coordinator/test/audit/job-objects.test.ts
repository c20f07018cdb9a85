import t from "tap";
import { findJobObjects } from "../../src/audit/job-objects.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const input = (key: string) => ({
  ...{ kind: "script" as const, key, versionId: "v7", etag: "e", sizeBytes: 10, target: "t" },
});

t.test(
  "a job's objects are its folder, its logs and rounds, and its inputs that lie elsewhere",
  async (t) => {
    using world = new KernelWorld();
    const inputs = [
      "jobs/study/shards/0.zip",
      "jobs/study-2/scripts/model_def.py",
      "jobs/old/model_out/checkpoint.pt",
    ].map(input);
    const submit = async (slug: string, inputsOf = inputs) =>
      (await world.parts.kernel.submit(world.task(slug, { inputs: inputsOf }, 1))).id;
    const id = await submit("study");
    const elsewhere = await submit("other", []);
    const objects = findJobObjects(world.read, id);
    t.same(objects, {
      userId: "user-a",
      folders: [`bucket-a/jobs/study/`, `bucket-a/logs/${id}/`, `bucket-a/ckpt/${id}/`],
      paths: [
        ...[
          "bucket-a/jobs/old/model_out/checkpoint.pt",
          "bucket-a/jobs/old/model_out/checkpoint.pt?versionId=v7",
        ],
        ...[
          "bucket-a/jobs/study-2/scripts/model_def.py",
          "bucket-a/jobs/study-2/scripts/model_def.py?versionId=v7",
        ],
      ],
      sameFolder: [],
    });
    t.match(findJobObjects(world.read, elsewhere), { paths: [], sameFolder: [] });
    t.equal(findJobObjects(world.read, "job-none"), null);
  },
);

t.test(
  "other jobs of the same folder are named, for what was read there may be theirs",
  async (t) => {
    using world = new KernelWorld();
    const ids: string[] = [];
    for (let run = 0; run < 3; run++) {
      ids.push((await world.parts.kernel.submit(world.task("again", {}, 1))).id);
      world.parts.db.exec("UPDATE jobs SET state = 'SUCCEEDED', ended_at = 2");
    }
    t.same(findJobObjects(world.read, ids[1]!)?.sameFolder, [ids[0], ids[2]]);
  },
);
