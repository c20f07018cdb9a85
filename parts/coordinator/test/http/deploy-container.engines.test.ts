/** A program of the customer's own is deployed by the name of its image, which the appliance pins by digest. */
import t from "tap";
import { putOwnImage } from "../../src/images/own-image-table.ts";
import { startS3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const engine = await startS3Engine(dir);
t.teardown(() => engine.close());
const api = await makeTestApp(`${dir}/app`, engine);
t.teardown(() => api.close());
const alice = await api.addUser("alice");
const put = (path: string, body: string) =>
  engine.store.put(alice.bucket, `inference_jobs/own/${path}`, body, "application/octet-stream");
const DIGEST = `sha256:${"a".repeat(64)}`;
const admit = (name: string, command: string[]) =>
  api.commit.run((db) =>
    putOwnImage(db, {
      ...{ name, digest: DIGEST, sizeBytes: 7, admittedBy: "digest", proof: null, admittedAt: 1 },
      program: { command, directory: "/srv", environment: { PATH: "/opt", A: "image" } },
    }),
  );
const deploy = async (container: string, wishes: object = {}) => {
  await put("inference.yaml", `engine: container\ncontainer: {${container}}\n`);
  return await api.call(alice, {
    ...{ method: "POST", url: "/api/inference/jobs" },
    payload: { name: "own", jobPath: "/inference_jobs/own", gpuModels: ["cpu"], ...wishes },
  });
};

t.test("a name that nobody admitted is refused, with those that there are", async (t) => {
  t.match(await deploy("image: mine, port: 8000"), {
    ...{ status: 400, body: { code: "image_unknown", message: /there is none yet/ } },
  });
  await admit("other", ["serve"]);
  t.match(await deploy("image: mine, port: 8000"), {
    body: { code: "image_unknown", message: /there are other/, hint: /appliance image add/ },
  });
});

t.test("one without a program needs one in the file", async (t) => {
  await admit("empty", []);
  t.match(await deploy("image: empty, port: 8000"), {
    ...{ status: 400, body: { code: "image_without_program" } },
  });
  t.match(await deploy("image: empty, port: 8000, command: [serve]"), { status: 201 });
  const { id } = [...api.kernel.views.values()].at(-1)!;
  api.kernel.views.set(id, { ...api.kernel.views.get(id)!, state: "CANCELLED" });
});

t.test(
  "its digest is pinned, and what the file says goes before what the image says",
  async (t) => {
    await admit("mine", ["serve", "--all"]);
    const environment = "image: mine, port: 8000, environment: {A: file}";
    t.match(await deploy(environment, { pool: "big" }), { status: 201 });
    const reference = `localhost:5000/own/mine@${DIGEST}`;
    t.match(api.kernel.tasks.at(-1), {
      ...{ kind: "predictor", inputs: [], image: { reference, sizeBytes: 7 }, pool: "big" },
      images: [{ reference, needs: null }],
      spec: {
        ...{ engine: "container", image: "mine", digest: DIGEST, directory: "/srv" },
        ...{ command: ["serve", "--all"], environment: { PATH: "/opt", A: "file" } },
      },
    });
  },
);
