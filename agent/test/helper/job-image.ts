/** A job image of one file, served by the real registry engine: `python3` is the payload program beside this file. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureEngine } from "@resontech/airgap/engines";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";
import { linkRelease } from "@resontech/registry-mirror/link-release";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { freePort, startEngine, stopEngine } from "./engine-process.ts";
import type { TestPki } from "./pki.ts";

const run = promisify(execFile);
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

/** An OCI layout; answers the manifest's digest. https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
async function writeLayout(dir: string, layout: string): Promise<string> {
  const root = join(dir, "root");
  for (const folder of ["usr/bin", "tmp", "etc", "app", "rt", "var/tmp"])
    mkdirSync(join(root, folder), { recursive: true });
  await run("go", ["build", "-trimpath", "-o", join(root, "usr/bin/python3"), "."], {
    cwd: join(import.meta.dirname, "payload"),
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  const tar = join(dir, "layer.tar");
  await run("tar", ["--create", "--file", tar, "--directory", root, "--owner=0", "--group=0", "."]);
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  const put = (bytes: Buffer): { digest: string; size: number } => {
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(layout, "blobs", "sha256", hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const layer = put(readFileSync(tar));
  const config = put(
    json({
      architecture: "amd64",
      os: "linux",
      config: { Env: ["PATH=/usr/bin"] },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    }),
  );
  const type = "application/vnd.oci.image";
  const manifest = put(
    json({
      schemaVersion: 2,
      mediaType: `${type}.manifest.v1+json`,
      config: { mediaType: `${type}.config.v1+json`, ...config },
      layers: [{ mediaType: `${type}.layer.v1.tar`, ...layer }],
    }),
  );
  writeFileSync(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(layout, "index.json"),
    json({ schemaVersion: 2, manifests: [{ mediaType: `${type}.manifest.v1+json`, ...manifest }] }),
  );
  return manifest.digest;
}
