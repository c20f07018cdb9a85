/** A job image of one file, served by the real registry engine: `python3` is the payload program beside this file. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";
import { linkRelease } from "@resontech/registry/link-release";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { buildProgram, writeImageLayout } from "@resontech/house/image-layout";
import { startEngine, stopEngine } from "@resontech/house/engine-process";
import type { TestPki } from "@resontech/house/test-pki";
import { freePort } from "@resontech/house/free-port";

const Index = Type.Object({
  manifests: Type.Array(Type.Object({ digest: Type.String() }), { minItems: 1 }),
});

export type JobImage = {
  registry: string;
  reference: string;
  /** Serves an image from an OCI layout, too. @returns its reference */
  add(layout: string): string;
  stop(): Promise<void>;
};

export async function serveJobImage(dir: string, pki: TestPki, host: string): Promise<JobImage> {
  const port = await freePort(host);
  const registry = `${host}:${port}`;
  const layout = join(dir, "layout");
  const digest = await writeLayout(dir, layout);
  // As a release's images come there: the registry takes no push.
  linkRelease(releaseOf(layout, digest), join(layout, "blobs", "sha256"), join(dir, "registry"));
  const config = join(dir, "registry.json");
  writeFileSync(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "warn", accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: join(dir, "registry") } },
      http: { addr: registry, tls: { certificate: pki.serverCertFile, key: pki.serverKeyFile } },
    }),
  );
  const ca = readFileSync(pki.rootFile);
  const engine = await startEngine(
    await ensureEngine("registry"),
    ["serve", config],
    { env: { OTEL_TRACES_EXPORTER: "none" } },
    () =>
      new Promise((resolve) => {
        get(`https://${registry}/v2/`, { ca }, (response) =>
          resolve(response.resume().statusCode === 200),
        ).once("error", () => resolve(false));
      }),
  );
  const referenceOf = (image: string): string => `${registry}/jobs/test@${image}`;
  return {
    registry,
    reference: referenceOf(digest),
    add(from) {
      // Links are made within one file system.
      const copy = mkdtempSync(join(dir, "layout-"));
      cpSync(from, copy, { recursive: true });
      const index = Value.Parse(Index, JSON.parse(readFileSync(join(copy, "index.json"), "utf8")));
      const [{ digest: added }] = index.manifests as [{ digest: string }];
      linkRelease(releaseOf(copy, added), join(copy, "blobs", "sha256"), join(dir, "registry"));
      return referenceOf(added);
    },
    stop: () => stopEngine(engine),
  };
}

/** Of a release what the registry needs of it. */
function releaseOf(layout: string, digest: string): Pick<ReleaseManifest, "version" | "images"> {
  const names = readdirSync(join(layout, "blobs", "sha256"));
  const blobs = names.map((sha256) => ({
    sha256,
    sizeBytes: statSync(join(layout, "blobs", "sha256", sha256)).size,
  }));
  const image = {
    repository: "jobs/test",
    digest,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    manifestBytes: 1,
    blobs,
  };
  const unused: Pick<ReleaseImage, "use" | "profile" | "packages" | "pythonVersion"> = {
    ...{ use: "job", profile: "test", packages: {}, pythonVersion: null },
  };
  return { version: "1.0.0", images: [{ ...image, ...unused }] };
}

/** Answers the manifest's digest. */
async function writeLayout(dir: string, layout: string): Promise<string> {
  const root = join(dir, "root");
  await buildProgram(join(import.meta.dirname, "payload"), root, "usr/bin/python3");
  return await writeImageLayout(root, layout, { Env: ["PATH=/usr/bin"] });
}
