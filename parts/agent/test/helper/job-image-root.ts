import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";

const repository = join(import.meta.dirname, "..", "..", "..", "..");
const built = join(repository, ".cache", "airgap", "steps");
const unpacked = join(repository, ".cache", "test");

const Blob = Type.Object({ digest: Type.String({ pattern: "^sha256:[0-9a-f]{64}$" }) });
const Index = Type.Object({ manifests: Type.Array(Blob, { minItems: 1 }) });
const Manifest = Type.Object({ layers: Type.Array(Blob, { minItems: 1 }) });

/**
 * The root folder of the newest job image that `airgap build` left in its cache, unpacked once for each digest; null when none was
 * built yet. Whiteouts do not occur: the image's layers only add.
 */
export function jobImageRoot(): string | null {
  const layout = newestLayout();
  if (layout === null) return null;
  const image = first(Value.Parse(Index, json(layout, "index.json")).manifests).digest;
  const root = join(unpacked, `job-image-${image.slice(7, 31)}`);
  if (existsSync(root)) return root;

  const part = `${root}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  for (const layer of Value.Parse(Manifest, json(layout, blobPath(image))).layers) {
    execFileSync("tar", ["--zstd", "-xf", join(layout, blobPath(layer.digest)), "-C", part]);
  }
  // Two test files may unpack at once: the first wins.
  try {
    renameSync(part, root);
  } catch (error) {
    rmSync(part, { recursive: true });
    if (!existsSync(root)) throw error;
  }
  return root;
}

/** OCI layout of the newest image of a profile that `airgap build` left in its cache; null when none was built yet. */
export function newestLayout(profile = "fl-cpu"): string | null {
  if (!existsSync(built)) return null;
  const layouts = readdirSync(built)
    .filter((name) => new RegExp(`^image-${profile}-[0-9a-f]+$`).test(name))
    .map((name) => join(built, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  return layouts[0] ?? null;
}

function json(layout: string, name: string): unknown {
  return JSON.parse(readFileSync(join(layout, name), "utf8"));
}

function blobPath(digest: string): string {
  return join("blobs", "sha256", digest.slice(7));
}

function first<T>(list: readonly T[]): T {
  const [item] = list;
  if (item === undefined) throw new Error("an image index without a manifest");
  return item;
}
