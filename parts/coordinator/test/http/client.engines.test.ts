import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { CLIENT_VERSIONS, clientPython, runPython } from "@resontech/house/client-venv";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { listenOnSocket } from "../../src/http/listen-on-socket.ts";
import { zipOf } from "../helper/zip-of.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const sockets = mkdtempSync(join(tmpdir(), "rta-"));
t.teardown(() => rmSync(sockets, { recursive: true }));
await listenOnSocket(api.app, join(sockets, "sock"));
const door = await RunningDoor.start(`${dir}/door`, engine, {
  coordinatorSocket: join(sockets, "sock"),
});
t.teardown(() => door[Symbol.asyncDispose]());
const alice = await api.addUser("alice");

const shards = `${dir}/shards`;
mkdirSync(shards);
for (const name of ["shard_0.zip", "shard_1.zip"])
  writeFileSync(`${shards}/${name}`, zipOf({ "data.txt": name }));
writeFileSync(
  `${dir}/net.py`,
  "class Net:\n    def __init__(self, width=4):\n        self.width = width\n\ndef fl_train(model, env, out_dir, logger=None):\n    return {'weights': {}, 'samples': 1}\n",
);

const env = {
  RESON_API_KEY: alice.platformKey,
  SSL_CERT_FILE: engine.caFile,
  AWS_CA_BUNDLE: engine.caFile,
  BASE_URL: `https://localhost:${door.port}`,
  S3: engine.endpoint,
  S3_KEY: alice.accessKeyId,
  S3_SECRET: alice.secretAccessKey,
  WORK: dir,
};
const OPEN = `
import json, os, sys
sys.path.insert(0, os.environ["WORK"])
from resontech import ResonTech, ResonTechConfig
sdk = ResonTech(ResonTechConfig(base_url=os.environ["BASE_URL"], s3_endpoint=os.environ["S3"], s3_region="garage",
    s3_access_key_id=os.environ["S3_KEY"], s3_secret_access_key=os.environ["S3_SECRET"], dashboard_url=os.environ["BASE_URL"]))
`;

for (const version of CLIENT_VERSIONS) {
  t.test(`client ${version}`, async (t) => {
    const python = await clientPython(version);
    const name = `Digits ${version}`;

    t.test("uploads and submits a task as its manual says", async (t) => {
      const select = version === "0.3.0" ? ', gpu_models=["cpu"], max_price_per_gpu_hour=1.0' : "";
      const submitted = await runPython(
        python,
        `${OPEN}
from net import Net
job = sdk.rt_submit(model=Net, name=${JSON.stringify(name)}, shards_dir=os.environ["WORK"] + "/shards"${select})
again = sdk.jobs.get(job.id)
print(json.dumps({"id": job.id, "state": job.state.value, "url": job.dashboard_url, "again": again.state.value,
    "keys": sdk.storage.list("jobs/")}))`,
        env,
      );
      const { id } = submitted as { id: string };
      t.match(submitted, {
        state: "PENDING",
        again: "PENDING",
        url: `https://localhost:${door.port}/dashboard/jobs/${id}`,
      });
      const slug = `digits-${version.replaceAll(".", "")}`;
      const task = api.kernel.tasks.at(-1);
      t.match(task, { name, slug, outputRoot: `jobs/${slug}`, numRounds: 5, warnings: [] });
      t.equal(task?.inputs.filter(({ kind }) => kind === "shard").length, 2);
      t.match(
        task?.selection,
        version === "0.3.0"
          ? { gpuModels: ["cpu"], maxPriceCents: 100 }
          : { gpuModels: null, maxPriceCents: null },
      );
    });

    t.test("reads progress, workers and its errors", async (t) => {
      api.kernel.putRunning({
        projectId: alice.projectId,
        userId: alice.userId,
        bucket: alice.bucket,
      });
      const seen = await runPython(
        python,
        `${OPEN}
from resontech.exceptions import AuthError, NotFoundError, ValidationError
stats = sdk.dashboard.worker_stats()
progress = sdk.dashboard.training_progress("state-RUNNING", "nv-1")
jobs = sdk.dashboard.list_nvflare_jobs("state-RUNNING", detailed=True)
def failure(f):
    try:
        f()
    except Exception as e:
        return [type(e).__name__, str(e)[:60]]
missing = failure(lambda: sdk.jobs.get("no-such-job"))
bad = failure(lambda: sdk._http.post("/api/tasks", json={"name": "x"}))
mint = failure(lambda: sdk._http.post("/api/keys", json={}))
print(json.dumps({"online": stats.online_count, "free": stats.total_free_memory_mb, "workers": [w.model for w in stats.workers],
    "progress": str(progress), "nvflare": jobs["jobs"][0]["job_id"], "missing": missing, "bad": bad, "mint": mint}))`,
        env,
      );
      t.match(seen, {
        online: 2,
        free: 8192,
        workers: ["cpu", "cpu"],
        progress: "Round 2/5",
        nvflare: "nv-1",
        missing: ["NotFoundError", /404 \[not_found\]/],
        bad: ["ValidationError", /400 \[validation_failed\]/],
        mint: ["AuthError", /403 \[session_only\]/],
      });
    });

    t.test("its own S3 code: multipart, head, delete, stale uploads, presigned GET", async (t) => {
      const seen = await runPython(
        python,
        `${OPEN}
import httpx
sdk._require_ready_to_submit()
path = os.environ["WORK"] + "/big-${version}.bin"
with open(path, "wb") as f:
    f.write(os.urandom(11 * 1024 * 1024))
sdk.storage.upload_file(path, "jobs/big/shards/big.bin", show_progress=False)
size = sdk.storage.head("jobs/big/shards/big.bin")["ContentLength"]
sdk.storage.boto3.create_multipart_upload(Bucket=sdk.storage.bucket, Key="jobs/big/shards/stale.zip")
stale = sdk.storage.abort_multipart_uploads("jobs/big/")
got = httpx.get(sdk.storage.presign_get("jobs/big/shards/big.bin")).content
same = got == open(path, "rb").read()
sdk.storage.delete("jobs/big/shards/big.bin")
gone = sdk.storage.head("jobs/big/shards/big.bin") is None
versions = sdk.storage.boto3.list_object_versions(Bucket=sdk.storage.bucket, Prefix="jobs/big/shards/big.bin")["Versions"]
def denied(f):
    try:
        f()
        return "allowed"
    except Exception as e:
        return e.response["Error"]["Code"]
delete = denied(lambda: sdk.storage.boto3.delete_object(Bucket=sdk.storage.bucket, Key="jobs/big/shards/big.bin", VersionId=versions[0]["VersionId"]))
print(json.dumps({"size": size, "stale": stale, "same": same, "gone": gone, "delete": delete}))`,
        env,
      );
      t.same(seen, {
        size: 11 * 1024 * 1024,
        stale: 1,
        same: true,
        gone: true,
        delete: "AccessDenied",
      });
    });
  });
}
