import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
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

const access = { url: registry.url, ca: registry.ca, tokenFor: async (repository: string) => registry.token(repository) };
const certs = join(dir, "certs");
mkdirSync(certs);
writeFileSync(join(certs, "ca.crt"), registry.ca);
const inspect = async (reference: string, ...options: string[]) =>
  await run("skopeo", ["inspect", "--cert-dir", certs, ...options, `docker://${new URL(registry.url).host}/${reference}`]);

t.test("a linked image is served by digest and by the release's tag, to who has a token", async (t) => {
  const image = release.images[0];
  for (const reference of [`resontech/one@${image?.digest}`, "resontech/one:1.2.3"]) {
    const { stdout } = await inspect(reference, "--registry-token", registry.token("resontech/one"));
    t.match(JSON.parse(stdout), { Digest: image?.digest, Architecture: "amd64" }, reference);
  }
  await t.rejects(inspect("resontech/one:1.2.3"), "without a token");
  await t.rejects(
    inspect("resontech/one:1.2.3", "--registry-token", registry.token("resontech/two")),
    "with another repository's token",
  );
});

t.test("nobody can push, not even with a token for it", async (t) => {
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${registry.url}/v2/resontech/one/blobs/uploads/`, {
      method: "POST",
      ca: registry.ca,
      headers: { authorization: `Bearer ${registry.token("resontech/one", ["pull", "push"])}` },
    });
    outgoing.once("response", (answer) => resolve(answer.resume().statusCode));
    outgoing.once("error", reject);
    outgoing.end();
  });
  t.equal(status, 405);
  t.notOk(readdirSync(storage, { recursive: true, encoding: "utf8" }).some((name) => name.includes("_uploads")));
});

t.test("the closed-world check finds nothing while all is served, then each thing that is not", async (t) => {
  t.strictSame(await findUnserved(release, access), []);
  const [one, two] = release.images;
  const blob = (sha256 = "") => join(storage, "docker/registry/v2/blobs/sha256", sha256.slice(0, 2), sha256, "data");
  const config = one?.blobs[1]?.sha256;
  rmSync(blob(config));
  rmSync(join(storage, "docker/registry/v2/repositories/resontech/two/_manifests/tags/1.2.3"), { recursive: true });
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
});
