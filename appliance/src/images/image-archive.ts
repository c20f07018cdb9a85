/** An image in one file, as `podman save --format oci-archive`, `docker save` and skopeo write it. Hostile until each digest was found right. */
import { createHash } from "node:crypto";
import { closeSync, createReadStream, fstatSync, openSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import type { ImageProgram } from "@resontech/contracts/own-image";
import {
  type BlobFacts,
  imageOfIndex,
  type LayerFacts,
  MAX_DOCUMENT_BYTES,
  readConfig,
  readLayout,
  readManifest,
} from "./decisions/image-documents.ts";
import { ImageInvalidError } from "./image-invalid-error.ts";
import { indexTar, type Member, read } from "./tar-index.ts";

/** Unpacked: a node has it on its disk. */
const MAX_CONTENT_BYTES = 256 * 1024 ** 3;
const MAX_INDEXES = 3;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

export class ImageArchive implements Disposable {
  readonly #file: string;
  readonly #fd: number;
  readonly #members: ReadonlyMap<string, Member>;
  /** `sha256:<hex>`, of its manifest. */
  readonly digest: string;
  readonly mediaType: string;
  readonly program: ImageProgram;
  readonly #documents: BlobFacts[];
  readonly #layers: LayerFacts[];

  /** Manifest and configuration are read and found right; layers are by {@link check}. @throws ImageInvalidError */
  constructor(file: string) {
    this.#file = file;
    this.#fd = openSync(file, "r");
    try {
      const facts = fstatSync(this.#fd);
      if (!facts.isFile()) throw new ImageInvalidError(`${file} is no file`);
      this.#members = indexTar(this.#fd, facts.size);
      readLayout(this.#document("oci-layout"));
      const architecture = ARCHITECTURES[process.arch] ?? process.arch;
      const found = this.#find(architecture);
      const { mediaType, config, layers } = readManifest(this.#blob(found));
      const { program, contentSha256 } = readConfig(this.#blob(config), architecture);
      if (contentSha256.length !== layers.length)
        throw new ImageInvalidError("its configuration has other layers than its manifest");
      this.digest = `sha256:${found.sha256}`;
      this.mediaType = mediaType;
      this.program = program;
      this.#documents = [found, config];
      this.#layers = layers.map((layer, at) => ({ ...layer, contentSha256: contentSha256[at]! }));
      for (const layer of this.#layers) this.#member(layer);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Each once. */
  get blobs(): BlobFacts[] {
    const all = [...this.#documents, ...this.#layers];
    return [
      ...new Map(all.map(({ sha256, sizeBytes }) => [sha256, { sha256, sizeBytes }])).values(),
    ];
  }

  get sizeBytes(): number {
    return this.blobs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** Bytes of a blob, as the file has them. */
  open(blob: BlobFacts): Readable {
    const { at, size } = this.#member(blob);
    if (size === 0) return Readable.from([]);
    return createReadStream(this.#file, {
      ...{ fd: this.#fd, autoClose: false, start: at, end: at + size - 1 },
    });
  }

  /** Unpacks every layer into nothing. @throws ImageInvalidError where one is another than it says, or all are too large */
  async check(): Promise<void> {
    let content = 0;
    for (const layer of this.#layers) {
      const [packed, unpacked] = [createHash("sha256"), createHash("sha256")];
      const counted = async function* (source: AsyncIterable<Buffer>) {
        for await (const piece of source) {
          packed.update(piece);
          yield piece;
        }
      };
      await pipeline(this.open(layer), counted, ...unpacking(layer), async (source) => {
        for await (const piece of source as AsyncIterable<Buffer>) {
          unpacked.update(piece);
          content += piece.length;
          if (content > MAX_CONTENT_BYTES)
            throw new ImageInvalidError(`it unpacks to more than ${MAX_CONTENT_BYTES} bytes`);
        }
      }).catch((error: unknown) => {
        if (error instanceof ImageInvalidError) throw error;
        throw new ImageInvalidError(`the layer ${layer.sha256} can't be unpacked`, {
          cause: error,
        });
      });
      if (packed.digest("hex") !== layer.sha256)
        throw new ImageInvalidError(
          `the layer ${layer.sha256} has other bytes than its digest says`,
        );
      if (unpacked.digest("hex") !== layer.contentSha256)
        throw new ImageInvalidError(
          `the layer ${layer.sha256} unpacks to what its image does not name`,
        );
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #find(architecture: string): BlobFacts {
    let bytes = this.#document("index.json");
    for (let depth = 0; depth < MAX_INDEXES; depth++) {
      const { isIndex, ...found } = imageOfIndex(bytes, architecture);
      if (!isIndex) return found;
      bytes = this.#blob(found);
    }
    throw new ImageInvalidError(`its indexes lead on for more than ${MAX_INDEXES} steps`);
  }

  #document(name: string): Buffer {
    const member = this.#members.get(name);
    if (member === undefined)
      throw new ImageInvalidError(`it is no OCI archive: it has no ${name}`);
    return this.#whole(name, member);
  }

  #blob(blob: BlobFacts): Buffer {
    const bytes = this.#whole(blob.sha256, this.#member(blob));
    if (createHash("sha256").update(bytes).digest("hex") !== blob.sha256)
      throw new ImageInvalidError(`its blob ${blob.sha256} has other bytes than its digest says`);
    return bytes;
  }

  #whole(name: string, { at, size }: Member): Buffer {
    if (size > MAX_DOCUMENT_BYTES)
      throw new ImageInvalidError(`its ${name} has more than ${MAX_DOCUMENT_BYTES} bytes`);
    return read(this.#fd, at, size);
  }

  #member({ sha256, sizeBytes }: BlobFacts): Member {
    const member = this.#members.get(`blobs/sha256/${sha256}`);
    if (member === undefined) throw new ImageInvalidError(`it lacks its blob ${sha256}`);
    if (member.size !== sizeBytes)
      throw new ImageInvalidError(`its blob ${sha256} has ${member.size} bytes, not ${sizeBytes}`);
    return member;
  }
}

function unpacking({ packing }: LayerFacts): NodeJS.ReadWriteStream[] {
  if (packing === "gzip") return [createGunzip()];
  return packing === "zstd" ? [createZstdDecompress()] : [];
}
