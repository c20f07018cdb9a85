import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { packLayer } from "../../src/images/layer.ts";
import { writeImage } from "../../src/images/oci-image.ts";
import { readLock } from "../../src/lock/lock-file.ts";
import { describeRelease } from "../../src/release/describe-release.ts";
import { treeOf } from "../../src/engines/tree-source.ts";
import { signedFiles } from "../../src/release/signed-files.ts";
import { writeBundle } from "../../src/release/write-bundle.ts";
import { SigningKey } from "../../src/trust/signing-key.ts";

/** A bundle of a few kilobytes, made by the builder's own parts; `change` lies about the release before it is signed. */
export async function makeSmallBundle(
  dir: string,
  change: (release: ReleaseManifest) => void = () => {},
): Promise<{ bundle: string; key: SigningKey; release: ReleaseManifest; rewrite: () => void }> {
  const [source, layerTree, layer, image, bundle] = [
    "source",
    "layer-tree",
    "layer",
    "image",
    "bundle",
  ].map((name) => join(dir, name)) as [string, string, string, string, string];
  for (const folder of [join(source, "bin"), join(source, "app"), layerTree, layer, image])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(source, "bin", "node"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  writeFileSync(join(source, "app", "installer.mjs"), "process.exit(0);\n");
  writeFileSync(join(layerTree, "file"), createHash("sha512").update("layer").digest());
  const lock = readLock(false);
  const packed = await packLayer(layerTree, layer, lock.sourceDateEpoch);
  writeImage(
    image,
    {
      repository: "resontech/small",
      use: "job",
      profile: "small",
      packages: {},
      pythonVersion: null,
      config: { user: "10001:10001", env: [], entrypoint: [], cmd: ["true"], workingDir: "/" },
    },
    [{ ...packed, file: join(layer, packed.file.split("/").at(-1) ?? "") }],
    lock.sourceDateEpoch,
  );
  const { release, blobs } = describeRelease({ lock, tree: treeOf(source), imageLayouts: [image] });
  change(release);
  const key = SigningKey.development(join(dir, "key.pem"));
  const files = signedFiles(release, lock.releaseNumber, key);
  const rewrite = (): void => writeBundle(bundle, files, blobs);
  rewrite();
  return { bundle, key, release, rewrite };
}
