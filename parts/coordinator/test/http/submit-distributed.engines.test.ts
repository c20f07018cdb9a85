/** A training of several ranks is submitted by the route that takes federations; what is wrong with one is told by its own fields. */
import t from "tap";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { upload } from "../helper/workspace.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
await upload(engine, alice.bucket, "train", {
  "scripts/train.py": "import os\nfolder = os.environ['RESONTECH_CHECKPOINT_DIR']\n",
  "scripts/anew.py": "print('nothing is kept')\n",
  "scripts/run.sh": "#!/bin/sh\n",
  "faces/a.csv": "1,2\n",
});
const good = {
  kind: "distributed",
  name: "Train it",
  scriptPath: "/jobs/train/scripts/train.py",
  workers: 2,
  gpuModels: ["cpu"],
};
const submit = (change: Record<string, unknown>) =>
  api.call(alice, { method: "POST", url: "/api/tasks", payload: { ...good, ...change } });

t.test("script, data and ranks are recorded; it can go on from what it commits", async (t) => {
  const { status, body } = await submit({
    ...{ arguments: ["--epochs=3"], environment: { LEVEL: "3" }, strategy: "ddp" },
    inputFolders: ["/jobs/train/faces"],
  });
  t.equal(status, 201, JSON.stringify(body));
  t.match(body, { status: "QUEUED", outputPath: "/jobs/train-it", warnings: [] });
  const task = api.kernel.tasks.at(-1);
  t.match(task, {
    ...{ kind: "distributed", resumable: true, minClients: 2, shardUncompressedBytes: [4, 4] },
    spec: {
      ...{ script: "train.py", arguments: ["--epochs=3"], environment: { LEVEL: "3" } },
      ...{ ranks: 2, strategy: "ddp" },
    },
  });
  t.same(
    task?.inputs.map(({ kind, target }) => [kind, target]),
    [
      ["script", "scripts/train.py"],
      ["file", "payload/faces/a.csv"],
    ],
  );
});

t.test("a script that commits nothing is accepted with a warning", async (t) => {
  const { body } = await submit({ name: "anew", scriptPath: "/jobs/train/scripts/anew.py" });
  t.match(body, { warnings: [/names no RESONTECH_CHECKPOINT_DIR/] });
  t.equal(api.kernel.tasks.at(-1)?.resumable, false);
});

const BAD: [what: string, change: Record<string, unknown>, code: string, says: string][] = [
  ["no count", { workers: undefined }, "validation_failed", "workers"],
  ["no worker", { workers: 0 }, "validation_failed", "workers"],
  ["a strategy that is none", { strategy: "zero" }, "validation_failed", "strategy"],
  ["a shell script", { scriptPath: "/jobs/train/scripts/run.sh" }, "validation_failed", ".py"],
  [
    "a part of a member",
    { workers: 3, workersPerMember: 2 },
    "validation_failed",
    "no multiple of workersPerMember",
  ],
  ["a field of a federation", { shardsDirPath: "/x" }, "validation_failed", "shardsDirPath"],
  ["no script", { scriptPath: "/jobs/train/scripts/none.py" }, "command_script_missing", "none.py"],
];

t.test("what is wrong is told with status, code and place", async (t) => {
  const before = api.kernel.tasks.length;
  for (const [what, change, code, says] of BAD) {
    const { status, body } = await submit(change);
    t.equal(status, 400, `${what}: ${JSON.stringify(body)}`);
    t.match(body, { code, message: says }, what);
  }
  t.equal(api.kernel.tasks.length, before);
});
