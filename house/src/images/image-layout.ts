/** A small OCI image of the files of one folder. https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { DEFAULT_CACHE } from "@resontech/airgap/engines";
import { buildOwnGo } from "@resontech/airgap/published-go";
import { StepCache } from "@resontech/airgap/step-cache";

const run = promisify(execFile);
const TYPE = "application/vnd.oci.image";

/** Of an image's configuration what these tests say of it. */
type ImageConfig = { Env?: string[]; Entrypoint?: string[]; Cmd?: string[]; WorkingDir?: string };

/** @param root its files @param layout where it is written @returns the manifest's digest */
export async function writeImageLayout(
  root: string,
  layout: string,
  config: ImageConfig,
): Promise<string> {
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  const put = (bytes: Buffer): { digest: string; size: number } => {
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(layout, "blobs", "sha256", hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const tar = `${layout}.layer.tar`;
  await run("tar", ["--create", "--file", tar, "--directory", root, "--owner=0", "--group=0", "."]);
  const layer = put(readFileSync(tar));
  rmSync(tar);
  const kept = put(
    json({
      ...{ architecture: "amd64", os: "linux", config },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    }),
  );
  const manifest = put(
    json({
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: { mediaType: `${TYPE}.config.v1+json`, ...kept },
      layers: [{ mediaType: `${TYPE}.layer.v1.tar`, ...layer }],
    }),
  );
  writeFileSync(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  const manifests = [{ mediaType: `${TYPE}.manifest.v1+json`, ...manifest }];
  writeFileSync(join(layout, "index.json"), json({ schemaVersion: 2, manifests }));
  return manifest.digest;
}

/** A static Go program, built once on this machine, in the image's root as `file`. */
export async function buildProgram(source: string, root: string, file: string): Promise<void> {
  for (const folder of ["usr/bin", "tmp", "etc", "app", "rt", "var/tmp", "srv"])
    mkdirSync(join(root, folder), { recursive: true });
  const built = await buildOwnGo(new StepCache(DEFAULT_CACHE), source, basename(source));
  copyFileSync(built, join(root, file));
}

/** An image whose program answers HTTP on 127.0.0.1, at the port that `PORT` says. */
export async function writeHttpImage(dir: string, layout: string): Promise<string> {
  const root = join(dir, "http-root");
  await buildProgram(join(import.meta.dirname, "http-program"), root, "srv/http-program");
  return await writeImageLayout(root, layout, {
    ...{ Entrypoint: ["./http-program"], Cmd: ["by", "default"], WorkingDir: "/srv" },
    Env: ["PATH=/srv/bin:/usr/bin", "PORT=8080"],
  });
}
