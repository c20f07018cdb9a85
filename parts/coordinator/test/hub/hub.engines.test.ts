/** The hub on the real app and the real object store: models come in, are downloaded by the unmodified client of Hugging Face, and go. */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { runPython } from "@resontech/house/client-venv";
import { huggingFacePython } from "../helper/hugging-face-python.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(600_000);
const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
const bob = await api.addUser("bob");
const FILES: Record<string, Buffer> = {
  "config.json": Buffer.from('{"architectures": []}'),
  "weights/part 1.bin": randomBytes(9 * 1024 ** 2 + 17),
  "empty.txt": Buffer.alloc(0),
};
for (const [path, content] of Object.entries(FILES))
  await engine.store.put(alice.bucket, `models/mini/${path}`, content, "x/y");

const add = (body: object, user = alice) =>
  api.call(user, { method: "POST", url: "/api/hub/models", payload: { licence: "MIT", ...body } });
const get = (url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ url, headers: { authorization: `Bearer ${bob.platformKey}`, ...headers } });
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
async function ready(name: string): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 4_000; tries++) {
    const { body } = await api.call(bob, { url: `/api/hub/models/${name}` });
    if (body["state"] !== "CHECKING") return body;
    await sleep(50);
  }
  throw new Error(`${name} is not ready`);
}

t.test("what comes in is pinned, read once, and known by its digests", async (t) => {
  t.match(await add({ name: "lab/mini", path: "/models/mini" }), {
    status: 201,
    body: { name: "lab/mini", revision: "main", files: 3, licence: "MIT" },
  });
  await engine.store.put(alice.bucket, "models/mini/config.json", "another", "x/y");
  const model = await ready("lab/mini/main");
  t.match(model, { state: "READY", commit: /^[0-9a-f]{40}$/, why: null });
  t.same(
    model["content"],
    Object.entries(FILES)
      .map(([path, bytes]) => ({ path, sizeBytes: bytes.length, sha256: sha256(bytes) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  );
  t.match(await add({ name: "lab/mini", path: "/models/mini" }), {
    ...{ status: 409, body: { code: "model_exists" } },
  });
  t.match(await add({ name: "lab/other", path: "/models/none" }), {
    ...{ status: 400, body: { code: "model_empty" } },
  });
  for (const bad of ["mini", "lab/../x", "a--b/c", "api/x", "lab/mini/x", "lab/a@b", ""])
    t.match(await add({ name: bad, path: "/models/mini" }), { status: 400 }, bad);
  for (const bad of ["models", "/models/../x", "//", "/.sgwtmp/x"])
    t.match(await add({ name: "lab/x", path: bad }), { status: 400 }, bad);
  t.match(await api.call(bob, { url: "/api/hub/models" }), {
    ...{ status: 200, body: { models: [{ name: "lab/mini", state: "READY" }] } },
  });
  const told = api.audit.drafts.filter(({ type }) => type.startsWith("model."));
  t.match(
    told.filter(({ phase }) => phase !== "requested").map(({ type, phase }) => [type, phase]),
    [
      ["model.add", "completed"],
      ["model.ready", "fact"],
    ],
  );
});

t.test("a part of a file is given, and what is not there says which kind it is", async (t) => {
  const url = `/lab/mini/resolve/main/${encodeURI("weights/part 1.bin")}`;
  const whole = FILES["weights/part 1.bin"]!;
  const part = await get(url, { range: "bytes=1048576-1048585" });
  t.equal(part.statusCode, 206);
  t.same(part.rawPayload, whole.subarray(1_048_576, 1_048_586));
  t.equal(part.headers["content-range"], `bytes 1048576-1048585/${whole.length}`);
  const beyond = await get(url, { range: `bytes=${whole.length}-` });
  t.match([beyond.statusCode, beyond.json()], [416, { code: "range_not_satisfiable" }]);
  const empty = await get("/lab/mini/resolve/main/empty.txt");
  t.match([empty.statusCode, empty.headers["content-length"], empty.body], [200, "0", ""]);
  for (const [path, kind] of [
    ["/lab/mini/resolve/main/none.bin", "EntryNotFound"],
    ["/lab/mini/resolve/v9/config.json", "RevisionNotFound"],
    ["/lab/none/resolve/main/config.json", "RepoNotFound"],
    ["/lab/mini/resolve/main/..%2f..%2fx", "EntryNotFound"],
  ] as const) {
    const { statusCode, headers } = await get(path);
    t.match([statusCode, headers["x-error-code"]], [404, kind], path);
  }
  t.equal((await api.app.inject({ url })).statusCode, 401);
  t.match(
    api.audit.drafts.findLast(({ type }) => type === "model.download"),
    {
      detail: { sha256: sha256(Buffer.alloc(0)), bytes: 0 },
    },
  );
});

const server = await listening();
t.teardown(() => server.close());

t.test("huggingface_hub downloads it unmodified, and tells what is not there", async (t) => {
  const script = `
import json, hashlib, os, pathlib
from huggingface_hub import snapshot_download
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
found = pathlib.Path(snapshot_download("lab/mini"))
again = snapshot_download("lab/mini", revision=found.name)
kinds = []
for name, revision in [("lab/none", None), ("lab/mini", "v9")]:
    try: snapshot_download(name, revision=revision)
    except Exception as error: kinds.append(type(error).__name__)
print(json.dumps({"commit": found.name, "same": str(found) == again, "kinds": kinds, "files": {
    str(file.relative_to(found)): hashlib.sha256(file.read_bytes()).hexdigest() for file in found.rglob("*") if file.is_file()}}))
`;
  const told = await runPython(await huggingFacePython(), script, {
    ...{ HF_ENDPOINT: server.url, HF_TOKEN: bob.platformKey, HOME: dir },
    ...{ HF_HOME: join(dir, "hf"), HF_HUB_DISABLE_TELEMETRY: "1", HF_HUB_DISABLE_XET: "1" },
  });
  const model = await ready("lab/mini/main");
  t.same(told, {
    ...{ commit: model["commit"], same: true },
    kinds: ["RepositoryNotFoundError", "RevisionNotFoundError"],
    files: Object.fromEntries(Object.entries(FILES).map(([path, bytes]) => [path, sha256(bytes)])),
  });
});

t.test("huggingface_hub lists, looks for and says who asks, unmodified", async (t) => {
  // It has no default revision.
  await add({ name: "lab/tagged", revision: "v1", path: "/models/mini" });
  await ready("lab/tagged/v1");
  const script = `
import json
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
api = HfApi()
names = lambda **more: [model.id for model in api.list_models(**more)]
def refused(**more):
    try: names(**more)
    except HfHubHTTPError as error: return error.response.status_code
who = api.whoami()
print(json.dumps({
    "all": names(), "lab": names(author="lab"), "none": names(author="nobody"), "tag": names(search="TAG"), "one": names(limit=1),
    "files": [len(model.siblings) for model in api.list_models(full=True)], "filter": refused(filter="gguf"),
    "exists": [api.repo_exists(name) for name in ("lab/mini", "lab/tagged", "lab/none", "gpt2")],
    "data": api.repo_exists("lab/mini", repo_type="dataset"),
    "revisions": [api.revision_exists("lab/tagged", name) for name in ("v1", "main")],
    "file": [api.file_exists("lab/mini", name) for name in ("config.json", "none.bin")],
    "who": who["name"], "orgs": len(who["orgs"])}))
`;
  const told = await runPython(await huggingFacePython(), script, {
    ...{ HF_ENDPOINT: server.url, HF_TOKEN: bob.platformKey, HOME: dir },
    ...{ HF_HOME: join(dir, "hf"), HF_HUB_DISABLE_TELEMETRY: "1", HF_HUB_DISABLE_XET: "1" },
  });
  t.same(told, {
    ...{ all: ["lab/mini", "lab/tagged"], lab: ["lab/mini", "lab/tagged"], none: [] },
    ...{ tag: ["lab/tagged"], one: ["lab/mini"], files: [3, 3], filter: 400 },
    ...{ exists: [true, true, false, false], data: false, revisions: [true, false] },
    ...{ file: [true, false], who: "bob", orgs: 1 },
  });
});

t.test("a deployment names it, and finds it in the layout of a cache", async (t) => {
  const put = (path: string, text: string) =>
    engine.store.put(bob.bucket, `inference_jobs/m/${path}`, text, "x/y");
  await put("scripts/m.py", "class M: pass");
  const deploy = async (path: string) => {
    await put("inference.yaml", `model: {module: m, class_name: M, path: "${path}"}\n`);
    const payload = { name: "m", jobPath: "/inference_jobs/m", gpuModels: ["cpu"] };
    const { status, body } = await api.call(bob, {
      ...({ method: "POST", url: "/api/inference/jobs", payload } as const),
    });
    if (status !== 201) return [status, body["code"]];
    const job = api.kernel.views.get(String(body["jobId"]))!;
    api.kernel.views.set(job.id, { ...job, state: "CANCELLED" });
    return api.kernel.tasks.at(-1);
  };
  const commit = String((await ready("lab/mini/main"))["commit"]);
  const folder = `hub/models--lab--mini/snapshots/${commit}`;
  const whole = await deploy("hub:lab/mini@main");
  t.match(whole, {
    spec: {
      modelPath: `/app/model/${folder}`,
      weights: { named: "hub:lab/mini@main", commit, versionId: null },
    },
  });
  const inputs = Array.isArray(whole) ? [] : (whole?.inputs ?? []);
  t.same(
    inputs.filter(({ kind }) => kind === "model").map(({ target, bucket }) => [target, bucket]),
    [
      ...Object.keys(FILES)
        .sort()
        .map((path) => [`model/${folder}/${path}`, alice.bucket]),
      ["model/hub/models--lab--mini/refs/main", alice.bucket],
    ],
  );
  t.match(await deploy(`hub:lab/mini@${commit}/weights/part 1.bin`), {
    spec: { modelPath: `/app/model/${folder}/weights/part 1.bin` },
    inputs: [{ kind: "script" }, { kind: "model", sha256: /^[0-9a-f]{64}$/ }],
  });
  t.same(await deploy("hub:lab/mini/none.bin"), [404, "model_not_found"]);
  t.same(await deploy("hub:lab/none@main"), [404, "model_not_found"]);
  t.same(await deploy("hub:lab"), [400, "path_invalid"]);
});

t.test("a lead of another project takes nothing out; what is out is gone", async (t) => {
  const remove = (user: typeof alice) =>
    api.call(user, { method: "DELETE", url: "/api/hub/models/lab/mini/main" });
  t.match(await remove(bob), { status: 404 });
  t.match(await remove(alice), { status: 200, body: { name: "lab/mini" } });
  t.match(await remove(alice), { status: 404 });
  t.equal((await get("/lab/mini/resolve/main/config.json")).statusCode, 404);
});

t.test("outputs that leave by approval alone do not become everybody's", async (t) => {
  await engine.store.put(alice.bucket, "jobs/x/model_out/checkpoint.pt", "model", "x/y");
  await api.commit.run((db) => db.prepare("UPDATE projects SET exports_by_approval = 1").run());
  t.match(await add({ name: "lab/leak", path: "/jobs/x/model_out" }), {
    ...{ status: 403, body: { code: "export_controlled" } },
  });
  await api.commit.run((db) => db.prepare("UPDATE projects SET exports_by_approval = 0").run());
});

/** The app on a port of the loopback address: the client speaks to a server, not to a function. */
async function listening(): Promise<{ url: string; close: () => void }> {
  const port = await freePort();
  await api.app.listen({ host: "127.0.0.1", port });
  return { url: `http://127.0.0.1:${port}`, close: () => undefined };
}
