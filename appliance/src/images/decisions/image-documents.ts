/** What an image's own documents say: index, manifest, configuration. Every byte of them is a stranger's. Pure. */
import {
  Arguments,
  Directory,
  ImageDigest,
  type ImageProgram,
  MAX_PROGRAM_BYTES,
  Variables,
} from "@resontech/contracts/own-image";
import { type TSchema, Type, type Static } from "typebox";
import { Value } from "typebox/value";
import { ImageInvalidError } from "../image-invalid-error.ts";

const OCI = "application/vnd.oci.image";
const DOCKER = "application/vnd.docker.distribution.manifest";
const INDEX_TYPES = [`${OCI}.index.v1+json`, `${DOCKER}.list.v2+json`];
const MANIFEST_TYPES = [`${OCI}.manifest.v1+json`, `${DOCKER}.v2+json`];
/** By the type of a layer, how it is packed. */
const LAYER_TYPES: Readonly<Record<string, Packing>> = {
  [`${OCI}.layer.v1.tar`]: "none",
  [`${OCI}.layer.v1.tar+gzip`]: "gzip",
  [`${OCI}.layer.v1.tar+zstd`]: "zstd",
  "application/vnd.docker.image.rootfs.diff.tar.gzip": "gzip",
};
const MAX_LAYERS = 256;
export const MAX_DOCUMENT_BYTES = 4 * 1024 ** 2;

export type Packing = "none" | "gzip" | "zstd";
export type BlobFacts = { sha256: string; sizeBytes: number };
/** @property contentSha256 of the layer as it unpacks */
export type LayerFacts = BlobFacts & { packing: Packing; contentSha256: string };

const Descriptor = Type.Object({
  mediaType: Type.Optional(Type.String()),
  digest: ImageDigest,
  size: Type.Integer({ minimum: 0 }),
  platform: Type.Optional(Type.Object({ os: Type.String(), architecture: Type.String() })),
});
type Descriptor = Static<typeof Descriptor>;
const Layout = Type.Object({ imageLayoutVersion: Type.String({ pattern: "^1\\." }) });
const Index = Type.Object({ manifests: Type.Array(Descriptor, { minItems: 1, maxItems: 100 }) });
const Manifest = Type.Object({
  schemaVersion: Type.Literal(2),
  mediaType: Type.Optional(Type.String()),
  config: Descriptor,
  layers: Type.Array(Descriptor, { maxItems: MAX_LAYERS }),
});
const Words = Type.Optional(Type.Union([Arguments, Type.Null()]));
const Config = Type.Object({
  os: Type.String(),
  architecture: Type.String(),
  config: Type.Optional(
    Type.Object({
      Entrypoint: Words,
      Cmd: Words,
      Env: Type.Optional(Type.Union([Type.Array(Type.String({ maxLength: 16_384 })), Type.Null()])),
      WorkingDir: Type.Optional(Type.String()),
    }),
  ),
  rootfs: Type.Object({
    type: Type.Literal("layers"),
    diff_ids: Type.Array(ImageDigest, { maxItems: MAX_LAYERS }),
  }),
});

export function readLayout(bytes: Buffer): void {
  parsed(Layout, bytes, "oci-layout");
}

/** The one image of an index for this machine, or another index that is to be read. @throws ImageInvalidError */
export function imageOfIndex(
  bytes: Buffer,
  architecture: string,
): BlobFacts & { isIndex: boolean } {
  const { manifests } = parsed(Index, bytes, "its index");
  // An index made for several machines has attestations beside their images.
  const fitting = manifests.filter(
    ({ platform }) =>
      platform === undefined || (platform.os === "linux" && platform.architecture === architecture),
  );
  const [found, ...more] = fitting;
  if (found === undefined) throw new ImageInvalidError(`it has no image for linux/${architecture}`);
  if (more.length > 0) throw new ImageInvalidError(`it has ${fitting.length} images, not one`);
  const type = found.mediaType ?? MANIFEST_TYPES[0]!;
  if (!INDEX_TYPES.includes(type) && !MANIFEST_TYPES.includes(type))
    throw new ImageInvalidError(`its index names no image but ${JSON.stringify(type)}`);
  return { ...blobOf(found), isIndex: INDEX_TYPES.includes(type) };
}

/** @throws ImageInvalidError */
export function readManifest(bytes: Buffer): {
  mediaType: string;
  config: BlobFacts;
  layers: (BlobFacts & { packing: Packing })[];
} {
  const {
    mediaType = MANIFEST_TYPES[0]!,
    config,
    layers,
  } = parsed(Manifest, bytes, "its manifest");
  if (!MANIFEST_TYPES.includes(mediaType))
    throw new ImageInvalidError(`its manifest is ${JSON.stringify(mediaType)}, no image's`);
  return {
    ...{ mediaType, config: blobOf(config) },
    layers: layers.map((layer) => {
      const packing = LAYER_TYPES[layer.mediaType ?? ""];
      if (packing === undefined)
        throw new ImageInvalidError(`a layer is ${JSON.stringify(layer.mediaType)}`);
      return { ...blobOf(layer), packing };
    }),
  };
}

/** @throws ImageInvalidError */
export function readConfig(
  bytes: Buffer,
  architecture: string,
): { program: ImageProgram; contentSha256: string[] } {
  const said = parsed(Config, bytes, "its configuration");
  if (said.os !== "linux" || said.architecture !== architecture)
    throw new ImageInvalidError(
      `it is for ${said.os}/${said.architecture}; this appliance runs linux/${architecture}`,
    );
  const { Entrypoint, Cmd, Env, WorkingDir = "" } = said.config ?? {};
  const program = {
    command: [...(Entrypoint ?? []), ...(Cmd ?? [])],
    directory: WorkingDir === "" ? "/" : WorkingDir,
    environment: environmentOf(Env ?? []),
  };
  if (!Value.Check(Arguments, program.command) || !Value.Check(Directory, program.directory))
    throw new ImageInvalidError("its entry point or its folder is none that can be run");
  if (Buffer.byteLength(JSON.stringify(program)) > MAX_PROGRAM_BYTES)
    throw new ImageInvalidError(
      `its entry point and environment have more than ${MAX_PROGRAM_BYTES} bytes`,
    );
  return { program, contentSha256: said.rootfs.diff_ids.map(hexOf) };
}

function environmentOf(lines: readonly string[]): Record<string, string> {
  const environment = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  if (!Value.Check(Variables, environment))
    throw new ImageInvalidError("its environment has a name or a value that can't be passed on");
  return environment;
}

function blobOf({ digest, size }: Descriptor): BlobFacts {
  return { sha256: hexOf(digest), sizeBytes: size };
}

function hexOf(digest: string): string {
  return digest.slice("sha256:".length);
}

function parsed<T extends TSchema>(schema: T, bytes: Buffer, what: string): Static<T> {
  let said: unknown;
  try {
    said = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new ImageInvalidError(`${what} is no JSON`);
  }
  if (Value.Check(schema, said)) return said;
  const [first] = Value.Errors(schema, said);
  throw new ImageInvalidError(
    `${what} is not as OCI describes it: ${first?.instancePath ?? ""} ${first?.message ?? ""}`,
  );
}
