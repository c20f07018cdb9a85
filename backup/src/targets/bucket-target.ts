import { pieces } from "../age/byte-pieces.ts";
import { BackupError } from "../backup-error.ts";
import type { BucketSettings } from "./bucket-file.ts";
import { askS3, textOf } from "./ask-store.ts";
import type { Target } from "./target.ts";

/** What is held in memory, and sent at once. S3 takes 10,000 of an object: 312 GiB. */
const PIECE_BYTES = 32 * 1024 ** 2;

/** A bucket of any S3 store. What is put there has its name only when it is whole: so S3 has it. */
export class BucketTarget implements Target {
  readonly name: string;
  readonly #settings: BucketSettings;
  readonly #pieceBytes: number;

  /** @param pieceBytes at least 5 MiB, but for tests with a store that takes less */
  constructor(settings: BucketSettings, pieceBytes = PIECE_BYTES) {
    this.#settings = settings;
    this.#pieceBytes = pieceBytes;
    this.name = `${settings.endpoint}/${settings.bucket}/${settings.prefix ?? ""}`;
  }

  async put(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    let upload: Upload | null = null;
    try {
      for await (const { bytes, isLast } of pieces(content, this.#pieceBytes)) {
        if (isLast && upload === null) {
          await this.#done({ method: "PUT", key: path, body: bytes });
          return;
        }
        upload ??= await this.#beginUpload(path);
        await this.#putPiece(upload, bytes);
      }
      if (upload !== null) await this.#complete(upload);
    } catch (error) {
      if (upload !== null) await this.#abort(upload);
      throw error;
    }
  }

  async *get(path: string): AsyncGenerator<Uint8Array> {
    const answer = await askS3(this.#settings, { method: "GET", key: path });
    try {
      yield* answer as AsyncIterable<Buffer>;
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new BackupError("backup_target", `${this.name}${path}: ${message}`, { cause });
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const { prefix = "" } = this.#settings;
    let after: string | null = null;
    do {
      const query = {
        ...{ "list-type": "2", prefix: `${prefix}${folder}/` },
        ...(after === null ? {} : { "continuation-token": after }),
      };
      const text = await textOf(await askS3(this.#settings, { method: "GET", key: "", query }));
      for (const [, key = ""] of text.matchAll(/<Key>([^<]{1,1024})<\/Key>/g))
        if (key.startsWith(prefix)) yield key.slice(prefix.length);
      after = nextOf(text);
    } while (after !== null);
  }

  async remove(path: string): Promise<void> {
    await this.#done({ method: "DELETE", key: path });
  }

  async #beginUpload(path: string): Promise<Upload> {
    const call = { method: "POST", key: path, query: { uploads: "" } } as const;
    const text = await textOf(await askS3(this.#settings, call));
    const [, id = ""] = /<UploadId>([^<]{1,1024})<\/UploadId>/.exec(text) ?? [];
    if (id === "") throw new BackupError("backup_target", `${this.name} began no upload`);
    return { path, id: unescaped(id), tags: [] };
  }

  async #putPiece({ path, id, tags }: Upload, body: Buffer): Promise<void> {
    const query = { partNumber: String(tags.length + 1), uploadId: id };
    const answer = await askS3(this.#settings, { method: "PUT", key: path, query, body });
    answer.resume();
    tags.push(answer.headers.etag ?? "");
  }

  async #complete({ path, id, tags }: Upload): Promise<void> {
    const parts = tags.map(
      (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    const call = { method: "POST", key: path, query: { uploadId: id } } as const;
    const answer = await askS3(this.#settings, { ...call, body: Buffer.from(body) });
    // S3 may answer 200 and fail all the same.
    const [, code = ""] = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(await textOf(answer)) ?? [];
    if (code !== "") throw new BackupError("backup_target", `${this.name}${path}: ${code}`);
  }

  /** What can't be aborted the store's own rules remove. */
  async #abort({ path, id }: Upload): Promise<void> {
    await this.#done({ method: "DELETE", key: path, query: { uploadId: id } }).catch(() => {});
  }

  async #done(call: Parameters<typeof askS3>[1]): Promise<void> {
    await textOf(await askS3(this.#settings, call));
  }
}

type Upload = { path: string; id: string; tags: string[] };

function nextOf(text: string): string | null {
  if (!text.includes("<IsTruncated>true</IsTruncated>")) return null;
  const [, token = ""] =
    /<NextContinuationToken>([^<]{1,2048})<\/NextContinuationToken>/.exec(text) ?? [];
  return token === "" ? null : unescaped(token);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&quot;": '"',
  "&#34;": '"',
  "&lt;": "<",
  "&gt;": ">",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|quot|#34|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
