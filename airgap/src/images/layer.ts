/** OCI layers with the same bytes for the same tree: sorted names, one time, zero owners. */
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Transform } from "node:stream";

export type Layer = {
  /** Compressed blob. */
  file: string;
  digest: string;
  sizeBytes: number;
  /** Digest of the uncompressed tar, and its size. */
  diffId: string;
  unpackedBytes: number;
};

/** Counts changes of what {@link packLayer} leaves; belongs among the inputs of each step that packs. */
export const LAYER_REVISION = 2;

export const LAYER_MEDIA_TYPE = "application/vnd.oci.image.layer.v1.tar+zstd";

/** Packs the folder `tree` into `into/layer.tar.zst` and describes it in `into/layer.json`. */
export async function packLayer(
  tree: string,
  into: string,
  sourceDateEpoch: number,
): Promise<Layer> {
  const tar = spawn(
    "tar",
    [
      "--create",
      "--format=gnu",
      "--sort=name",
      `--mtime=@${sourceDateEpoch}`,
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "-C",
      tree,
      ".",
    ],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, LC_ALL: "C" } },
  );
  // The number of workers does not change zstd's output once there is at least one.
  const zstd = spawn("zstd", ["-q", "-3", "-T2", "-c"], { stdio: ["pipe", "pipe", "inherit"] });
  const diff = createHash("sha256");
  let unpackedBytes = 0;
  const file = join(into, "layer.tar.zst");
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      diff.update(chunk);
      unpackedBytes += chunk.length;
      done(null, chunk);
    },
  });
  const ended = (child: typeof tar | typeof zstd, name: string): Promise<void> =>
    new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}`)),
      );
    });
  await Promise.all([
    ended(tar, "tar"),
    ended(zstd, "zstd"),
    pipeline(tar.stdout, tap, zstd.stdin),
    pipeline(zstd.stdout, createWriteStream(file)),
  ]);
  const layer: Layer = {
    file: "layer.tar.zst",
    digest: await digestFile(file),
    sizeBytes: statSync(file).size,
    diffId: `sha256:${diff.digest("hex")}`,
    unpackedBytes,
  };
  writeFileSync(join(into, "layer.json"), JSON.stringify(layer));
  return { ...layer, file };
}

/** `sha256:<hex>` of a file, streamed. */
export async function digestFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash);
  return `sha256:${hash.digest("hex")}`;
}
