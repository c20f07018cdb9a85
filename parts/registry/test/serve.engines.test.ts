import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { untilClosed } from "@resontech/house/until-closed";
import t from "tap";
import { findUnserved } from "../src/find-unserved.ts";
import { linkRelease } from "../src/link-release.ts";
import { openFolder, startRegistry } from "./helper/running-registry.ts";
import { makeRelease } from "./helper/small-release.ts";

const run = promisify(execFile);
const dir = openFolder();
const [store, storage] = [join(dir, "store"), join(dir, "storage")];
const release = makeRelease(store, "1.2.3", ["one", "two"]);
linkRelease(release, store, storage);
const registry = await startRegistry(dir, storage);
t.teardown(async () => await registry[Symbol.asyncDispose]());

const access = {
  url: registry.url,
  ca: registry.ca,
  tokenFor: async (repository: string) => registry.token(repository),
};
const certs = join(dir, "certs");
mkdirSync(certs);
writeFileSync(join(certs, "ca.crt"), registry.ca);
const inspect = async (reference: string, ...options: string[]) =>
  await run("skopeo", [
    "inspect",
    "--cert-dir",
    certs,
    ...options,
    `docker://${new URL(registry.url).host}/${reference}`,
  ]);

t.test(
  "a linked image is served by digest and by the release's tag, to who has a token",
  async (t) => {
    const image = release.images[0];
    for (const reference of [`resontech/one@${image?.digest}`, "resontech/one:1.2.3"]) {
      const { stdout } = await inspect(
        reference,
        "--registry-token",
        registry.token("resontech/one"),
      );
      t.match(JSON.parse(stdout), { Digest: image?.digest, Architecture: "amd64" }, reference);
    }
    await t.rejects(inspect("resontech/one:1.2.3"), "without a token");
    await t.rejects(
      inspect("resontech/one:1.2.3", "--registry-token", registry.token("resontech/two")),
      "with another repository's token",
    );
  },
);

async function ask(
  method: string,
  path: string,
  token: string | null,
  more: Record<string, string> = {},
): Promise<{ status: number; type: string; body: string }> {
  return await new Promise((resolve, reject) => {
    const headers = { ...more, ...(token === null ? {} : { authorization: `Bearer ${token}` }) };
    const outgoing = request(`${registry.url}${path}`, { method, ca: registry.ca, headers });
    outgoing.once("response", (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => (body += text));
      answer.once("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          type: String(answer.headers["content-type"]),
          body,
        }),
      );
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

t.test("nobody can push, not even with a token for it, and is told why", async (t) => {
  const token = registry.token("resontech/one", ["pull", "push"]);
  for (const [method, path] of [
    ["POST", "blobs/uploads/"],
    ["PUT", "manifests/1.2.3"],
    ["PATCH", "blobs/uploads/x"],
    ["DELETE", `manifests/${release.images[0]?.digest}`],
  ] as const) {
    const { status, body } = await ask(method, `/v2/resontech/one/${path}`, token);
    t.equal(status, 405, method);
    t.match(JSON.parse(body), { errors: [{ code: "UNSUPPORTED", message: /read-only/ }] });
  }
  const { stderr } = await run("skopeo", [
    ...[
      "copy",
      "--dest-cert-dir",
      certs,
      "--dest-registry-token",
      token,
      "--src-cert-dir",
      certs,
      "--src-registry-token",
      token,
    ],
    ...["resontech/one:1.2.3", "resontech/one:new"].map(
      (name) => `docker://${new URL(registry.url).host}/${name}`,
    ),
  ]).catch((error: { stderr: string }) => error);
  t.match(stderr, /read-only/, "in the words that a client shows");
  t.notOk(
    readdirSync(storage, { recursive: true, encoding: "utf8" }).some((name) =>
      name.includes("_uploads"),
    ),
  );
});

t.test("whoever takes any type of a manifest gets the one that there is", async (t) => {
  const token = registry.token("resontech/one");
  for (const reference of ["1.2.3", release.images[0]?.digest])
    for (const method of ["GET", "HEAD"])
      for (const [accept, status] of [
        [null, 200],
        ["*/*", 200],
        ["application/*", 200],
        ["text/html, Application/*;q=0.9", 200],
        ["application/json, */*;q=0.5", 200],
        ["application/vnd.oci.image.manifest.v1+json", 200],
        ["text/html", 404],
        ["text/html, */*;q=0", 404],
        ["text/html, */*;q=0.0", 404],
      ] as const) {
        const path = `/v2/resontech/one/manifests/${reference}`;
        const answer = await ask(method, path, token, accept === null ? {} : { accept });
        t.equal(answer.status, status, `${method} ${reference} ${accept}`);
        if (status === 200) t.match(answer.type, /vnd\.oci\.image\.manifest/);
      }
  t.match(await ask("GET", "/v2/resontech/one/manifests/1.2.3", null, { accept: "*/*" }), {
    status: 401,
  });
});

t.test("who refers to an image is answered to whoever may pull it: nobody does", async (t) => {
  const path = `/v2/resontech/one/referrers/${release.images[0]?.digest}`;
  const answer = await ask("GET", path, registry.token("resontech/one"));
  t.match(answer, { status: 200, type: "application/vnd.oci.image.index.v1+json" });
  t.match(JSON.parse(answer.body), { schemaVersion: 2, manifests: [] });
  t.equal(
    (await ask("GET", path.replace(/.$/, "0"), registry.token("resontech/one"))).status,
    200,
    "also for what is not there",
  );
  for (const token of [null, registry.token("resontech/two")])
    t.match(await ask("GET", path, token), { status: 401, body: /"UNAUTHORIZED"/ });
});

t.test("a socket that never says hello is closed", async () => {
  const socket = connect(Number(new URL(registry.url).port), "127.0.0.1");
  await untilClosed(socket.resume());
});

t.test(
  "the closed-world check finds nothing while all is served, then each thing that is not",
  async (t) => {
    t.strictSame(await findUnserved(release, access), []);
    const [one, two] = release.images;
    const blob = (sha256 = "") =>
      join(storage, "docker/registry/v2/blobs/sha256", sha256.slice(0, 2), sha256, "data");
    const config = one?.blobs[1]?.sha256;
    rmSync(blob(config));
    rmSync(join(storage, "docker/registry/v2/repositories/resontech/two/_manifests/tags/1.2.3"), {
      recursive: true,
    });
    const problems = await findUnserved(release, access);
    t.strictSame(problems, [
      `resontech/one@${one?.digest}: the registry answers 404 for its blob ${config}`,
      `resontech/two:1.2.3 is not ${two?.digest} but 404`,
    ]);
    linkRelease(release, store, storage);
    t.strictSame(await findUnserved(release, access), [], "linking again repairs it");
    const layer = one?.blobs[2]?.sha256;
    truncateSync(blob(layer), 3);
    t.match(await findUnserved(release, access), [/has 3 bytes/, /has 3 bytes/]);
  },
);
