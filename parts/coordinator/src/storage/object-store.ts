/** The objects of users' buckets, as the coordinator needs them: by version, with deadlines, one multipart for each output. */
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { LEAST_COST_BYTES, storageCost } from "@resontech/contracts/storage-cost";
import type { StoredVersion } from "./decisions/collectable.ts";
import {
  childNodes,
  childText,
  escapeXml,
  parseDocument,
  type XmlNode,
} from "./decisions/s3-xml.ts";
import { type S3Transport, S3ResponseError, S3UnavailableError } from "./s3-transport.ts";

/** One version of one object. `etag` has no quotes. */
export type ObjectVersion = { key: string; versionId: string; sizeBytes: number; etag: string };
export type OpenUpload = { key: string; uploadId: string };
/** Not `isNew`: an earlier request made it, or another upload of the same parts did. */
export type CompletedVersion = ObjectVersion & { isNew: boolean };
export type CompletedPart = { partNumber: number; etag: string };
/** What all versions, delete markers, open uploads and their parts cost (contracts/src/storage/storage-cost.ts); `objects` counts current versions alone. */
export type BucketUsage = { usedBytes: number; objects: number };

/** One page of a folder. `next` goes on after it; null on the last page. `modifiedAt`: Unix milliseconds. */
export type FolderPage = {
  folders: string[];
  objects: { key: string; sizeBytes: number; modifiedAt: number }[];
  next: string | null;
};

export interface ObjectStore {
  /** Makes the bucket with versioning on; safe to repeat. */
  ensureBucket(bucket: string): Promise<void>;
  setBucketPolicy(bucket: string, policy: object): Promise<void>;
  /** Current versions under a prefix, by key in code unit order. @throws TooManyObjectsError above `limit`. */
  list(bucket: string, prefix: string, limit: number): Promise<ObjectVersion[]>;
  /** As {@link list}, in one request; null where the versions under the prefix are more than one answer holds. */
  listAtOnce(bucket: string, prefix: string): Promise<ObjectVersion[] | null>;
  /** Current objects of one folder, and the folders below it. @param prefix empty, or with a slash at its end */
  listFolder(
    bucket: string,
    prefix: string,
    page: { limit: number; after: string | null },
  ): Promise<FolderPage>;
  usage(bucket: string): Promise<BucketUsage>;
  /** Every version and delete marker under a prefix, in pages, by key. @param prefix none: of the whole bucket */
  versions(bucket: string, prefix?: string): AsyncIterable<StoredVersion[]>;
  /** Null when there is no such object (or version). */
  stat(bucket: string, key: string, versionId?: string): Promise<ObjectVersion | null>;
  /** Bytes `start` … `end` (both included) of one version. */
  getRange(
    version: Pick<ObjectVersion, "key" | "versionId"> & { bucket: string },
    start: number,
    end: number,
  ): Promise<Buffer>;
  /** The bytes of one version as they come; a reader that leaves must destroy them. @param range both ends included; null: all */
  open(
    version: Pick<ObjectVersion, "key" | "versionId"> & { bucket: string },
    range: { start: number; end: number } | null,
    signal?: AbortSignal,
  ): Promise<Readable>;
  /** A small object in one request; for the coordinator's own files. */
  put(
    bucket: string,
    key: string,
    body: string | Uint8Array,
    contentType: string,
  ): Promise<ObjectVersion>;
  /** An empty one; one that is gone already is fine. */
  removeBucket(bucket: string): Promise<void>;
  /** Without `versionId` a delete marker is set, with it the version is gone. */
  remove(bucket: string, key: string, versionId?: string): Promise<void>;
  presignGet(bucket: string, key: string, versionId: string, expiresS: number): Promise<string>;
  createUpload(bucket: string, key: string, contentType: string): Promise<string>;
  /** `partNumber` from 1. */
  presignPart(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
    expiresS: number,
  ): Promise<string>;
  /** A part that the engine takes from another object's version. @param range both ends included: the S3 front takes no copy of the coordinator's without one @returns its ETag */
  copyPart(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
    source: { key: string; versionId: string; range: { start: number; end: number } },
  ): Promise<string>;
  /**
   * Takes as long as the engine copies the parts.
   * @throws CompletionUnderWay
   */
  completeUpload(
    bucket: string,
    key: string,
    uploadId: string,
    parts: readonly CompletedPart[],
    signal?: AbortSignal,
  ): Promise<CompletedVersion>;
  /** True when it was open; its part URLs are dead afterwards. */
  abortUpload(bucket: string, key: string, uploadId: string): Promise<boolean>;
  /** By key. */
  listUploads(bucket: string, prefix: string): Promise<OpenUpload[]>;
  /** Size of one part of an open upload; null when there is none. */
  partBytes(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
  ): Promise<number | null>;
  /** Resolves while the engine answers. */
  ping(): Promise<void>;
}

/** A prefix holds more objects than the caller is ready to look at. */
export class TooManyObjectsError extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super(`more than ${limit} objects`);
    this.name = "TooManyObjectsError";
    this.limit = limit;
  }
}

/** One version in a listing. */
type Listed = { version: ObjectVersion } & Pick<
  StoredVersion,
  "isLatest" | "isMarker" | "modifiedAt"
>;
/** Without `versionId` the key itself, with it what follows that version. */
type VersionMarker = { key: string; versionId: string };
/** `cut` is the last entry of a page that others follow; it has no version when it is a folder. */
type VersionPage = { listed: Listed[]; cut: VersionMarker | null };

/** The engine's largest. */
const PAGE_ENTRIES = 1000;
const ABORT_TRIES = 5;
const ABORT_WAIT_MS = 100;
/** As long as the S3 front lets the engine work: it copies every part, which takes minutes for the largest objects. */
const COMPLETION_IDLE_MS = 15 * 60_000;

/** Another request completes this upload, or was cut off by the end of the engine; the engine (versitygw 1.8.0) does not tell which. */
export class CompletionUnderWay extends S3UnavailableError {
  constructor() {
    super("the object store is putting the parts together");
    this.name = "CompletionUnderWay";
  }
}

export class S3ObjectStore implements ObjectStore {
  readonly #s3: S3Transport;
  readonly #pageEntries: string;

  /** @param pageEntries most entries of one page of a listing, from 2 */
  constructor(transport: S3Transport, pageEntries = PAGE_ENTRIES) {
    this.#s3 = transport;
    this.#pageEntries = String(pageEntries);
  }

  async ensureBucket(bucket: string): Promise<void> {
    try {
      // Owner enforced: nobody has rights by object ACLs, the bucket policy alone speaks.
      await this.#s3.send({
        method: "PUT",
        path: [bucket],
        headers: { "x-amz-object-ownership": "BucketOwnerEnforced" },
      });
    } catch (error) {
      if (!(error instanceof S3ResponseError && error.code === "BucketAlreadyOwnedByYou"))
        throw error;
    }
    await this.#s3.send({
      method: "PUT",
      path: [bucket],
      query: { versioning: "" },
      body: "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
    });
  }

  async setBucketPolicy(bucket: string, policy: object): Promise<void> {
    await this.#s3.send({
      method: "PUT",
      path: [bucket],
      query: { policy: "" },
      body: JSON.stringify(policy),
    });
  }

  async list(bucket: string, prefix: string, limit: number): Promise<ObjectVersion[]> {
    const found: ObjectVersion[] = [];
    for await (const page of this.#versionPages(bucket, prefix)) {
      for (const { version, isLatest, isMarker } of page) {
        if (isLatest && !isMarker) found.push(version);
        if (found.length > limit) throw new TooManyObjectsError(limit);
      }
    }
    return byKey(found);
  }

  async listAtOnce(bucket: string, prefix: string): Promise<ObjectVersion[] | null> {
    const { listed, cut } = await this.#versionPage(bucket, prefix, { key: "", versionId: "" });
    if (cut !== null) return null;
    return byKey(
      listed.flatMap(({ version, isLatest, isMarker }) => (isLatest && !isMarker ? [version] : [])),
    );
  }

  async listFolder(
    bucket: string,
    prefix: string,
    { limit, after }: { limit: number; after: string | null },
  ): Promise<FolderPage> {
    const { body } = await this.#s3.send({
      method: "GET",
      path: [bucket],
      query: {
        ...{ "list-type": "2", delimiter: "/", prefix, "max-keys": String(limit) },
        ...(after === null ? {} : { "continuation-token": after }),
      },
    });
    const result = parseDocument(body.toString("utf8"), "ListBucketResult");
    const next = childText(result, "NextContinuationToken");
    return {
      folders: childNodes(result, "CommonPrefixes").map((node) => childText(node, "Prefix")),
      objects: childNodes(result, "Contents").map((node) => ({
        key: childText(node, "Key"),
        sizeBytes: Number(childText(node, "Size")),
        modifiedAt: Date.parse(childText(node, "LastModified")),
      })),
      next: childText(result, "IsTruncated") === "true" && next !== "" ? next : null,
    };
  }

  async *versions(bucket: string, prefix = ""): AsyncGenerator<StoredVersion[]> {
    for await (const page of this.#versionPages(bucket, prefix))
      yield page.map(({ version, ...state }) => ({ ...version, ...state }));
  }

  async usage(bucket: string): Promise<BucketUsage> {
    let usedBytes = 0;
    let objects = 0;
    // Uploads first: one that is completed in between is then counted twice. The S3 front relies on it, and itself adds what
    // is being completed meanwhile: the engine shows neither its parts nor its object.
    for (const upload of await this.listUploads(bucket, ""))
      usedBytes += await this.#uploadedBytes(bucket, upload);
    for await (const page of this.#versionPages(bucket, "")) {
      for (const { version, isLatest, isMarker } of page) {
        usedBytes += storageCost(version.sizeBytes);
        if (isLatest && !isMarker) objects += 1;
      }
    }
    return { usedBytes, objects };
  }

  async stat(bucket: string, key: string, versionId?: string): Promise<ObjectVersion | null> {
    try {
      const { headers } = await this.#s3.send({
        method: "HEAD",
        path: [bucket, key],
        ...(versionId === undefined ? {} : { query: { versionId } }),
      });
      return {
        key,
        versionId: headerOf(headers["x-amz-version-id"]) || "null",
        sizeBytes: Number(headers["content-length"]),
        etag: unquote(headers.etag ?? ""),
      };
    } catch (error) {
      // HEAD has no body: 404 is a missing key, 405 a delete marker asked for by version.
      if (error instanceof S3ResponseError && (error.status === 404 || error.status === 405))
        return null;
      throw error;
    }
  }

  async getRange(
    version: Pick<ObjectVersion, "key" | "versionId"> & { bucket: string },
    start: number,
    end: number,
  ): Promise<Buffer> {
    const length = end - start + 1;
    if (length <= 0) return Buffer.alloc(0);
    const { body } = await this.#s3.send({
      method: "GET",
      path: [version.bucket, version.key],
      query: { versionId: version.versionId },
      headers: { range: `bytes=${start}-${end}` },
      maxBytes: length,
    });
    return body;
  }

  async open(
    { bucket, key, versionId }: Pick<ObjectVersion, "key" | "versionId"> & { bucket: string },
    range: { start: number; end: number } | null,
    signal?: AbortSignal,
  ): Promise<Readable> {
    return await this.#s3.open({
      ...{ method: "GET", path: [bucket, key], query: { versionId } },
      ...(range === null ? {} : { headers: { range: `bytes=${range.start}-${range.end}` } }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async put(
    bucket: string,
    key: string,
    body: string | Uint8Array,
    contentType: string,
  ): Promise<ObjectVersion> {
    const bytes = Buffer.from(body);
    const { headers } = await this.#s3.send({
      method: "PUT",
      path: [bucket, key],
      headers: { "content-type": contentType },
      body: bytes,
    });
    return {
      key,
      versionId: headerOf(headers["x-amz-version-id"]) || "null",
      sizeBytes: bytes.length,
      etag: unquote(headers.etag ?? ""),
    };
  }

  async remove(bucket: string, key: string, versionId?: string): Promise<void> {
    await this.#s3.send({
      method: "DELETE",
      path: [bucket, key],
      ...(versionId === undefined ? {} : { query: { versionId } }),
    });
  }

  async removeBucket(bucket: string): Promise<void> {
    try {
      await this.#s3.send({ method: "DELETE", path: [bucket] });
    } catch (error) {
      if (!(error instanceof S3ResponseError && error.code === "NoSuchBucket")) throw error;
    }
  }

  presignGet(bucket: string, key: string, versionId: string, expiresS: number): Promise<string> {
    return this.#s3.presign("GET", [bucket, key], { versionId }, expiresS);
  }

  async createUpload(bucket: string, key: string, contentType: string): Promise<string> {
    const { body } = await this.#s3.send({
      method: "POST",
      path: [bucket, key],
      query: { uploads: "" },
      headers: { "content-type": contentType },
    });
    const uploadId = childText(
      parseDocument(body.toString("utf8"), "InitiateMultipartUploadResult"),
      "UploadId",
    );
    if (uploadId === "")
      throw new S3UnavailableError("the object store opened an upload without an id");
    return uploadId;
  }

  presignPart(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
    expiresS: number,
  ): Promise<string> {
    return this.#s3.presign(
      "PUT",
      [bucket, key],
      { partNumber: String(partNumber), uploadId },
      expiresS,
    );
  }

  async copyPart(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
    {
      key: from,
      versionId,
      range,
    }: { key: string; versionId: string; range: { start: number; end: number } },
  ): Promise<string> {
    const path = [bucket, ...from.split("/")].map(encodeURIComponent).join("/");
    const { body } = await this.#s3.send({
      method: "PUT",
      path: [bucket, key],
      query: { partNumber: String(partNumber), uploadId },
      headers: {
        "x-amz-copy-source": `${path}?versionId=${versionId}`,
        "x-amz-copy-source-range": `bytes=${range.start}-${range.end}`,
      },
      idleMs: COMPLETION_IDLE_MS,
    });
    return unquote(childText(parseDocument(body.toString("utf8"), "CopyPartResult"), "ETag"));
  }

  async completeUpload(
    bucket: string,
    key: string,
    uploadId: string,
    parts: readonly CompletedPart[],
    signal?: AbortSignal,
  ): Promise<CompletedVersion> {
    const list = parts.map(
      ({ partNumber, etag }) =>
        `<Part><PartNumber>${partNumber}</PartNumber><ETag>&#34;${escapeXml(etag)}&#34;</ETag></Part>`,
    );
    const { body, headers } = await this.#s3.send({
      method: "POST",
      path: [bucket, key],
      query: { uploadId },
      body: `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`,
      idleMs: COMPLETION_IDLE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    // S3 may send 200 and then an error document.
    const etag = unquote(
      childText(parseDocument(body.toString("utf8"), "CompleteMultipartUploadResult"), "ETag"),
    );
    const versionId = headerOf(headers["x-amz-version-id"]);
    const version = await this.stat(bucket, key, versionId === "" ? undefined : versionId);
    // The engine says 200 also to what it is at already; what is there then is an older version, or none.
    if (version === null || version.etag !== etag) throw new CompletionUnderWay();
    return { ...version, isNew: versionId !== "" };
  }

  /** The engine (versitygw 1.8.0) empties the upload's folder and then removes it: a part that comes in between makes that fail. */
  async abortUpload(bucket: string, key: string, uploadId: string): Promise<boolean> {
    for (let tries = 1; ; tries++)
      try {
        await this.#s3.send({ method: "DELETE", path: [bucket, key], query: { uploadId } });
        return true;
      } catch (error) {
        if (!(error instanceof S3ResponseError)) throw error;
        // What an earlier try began to remove is gone.
        if (error.code === "NoSuchUpload") return tries > 1;
        if (error.status < 500 || tries === ABORT_TRIES) throw error;
        await sleep(ABORT_WAIT_MS * tries);
      }
  }

  /**
   * A key that a page cuts off is left to the next one, which begins behind the key before it: the engine (versitygw 1.8.0) goes on after
   * a whole key alone.
   */
  async listUploads(bucket: string, prefix: string): Promise<OpenUpload[]> {
    const found: OpenUpload[] = [];
    let markers: Record<string, string> | null = {};
    while (markers !== null) {
      const { body } = await this.#s3.send({
        method: "GET",
        path: [bucket],
        query: { uploads: "", prefix, "max-uploads": this.#pageEntries, ...markers },
      });
      const result: XmlNode = parseDocument(body.toString("utf8"), "ListMultipartUploadsResult");
      for (const upload of childNodes(result, "Upload"))
        found.push({ key: childText(upload, "Key"), uploadId: childText(upload, "UploadId") });
      markers =
        childText(result, "IsTruncated") === "true"
          ? {
              "key-marker": childText(result, "NextKeyMarker"),
              "upload-id-marker": childText(result, "NextUploadIdMarker"),
            }
          : null;
    }
    return found;
  }

  async partBytes(
    bucket: string,
    key: string,
    uploadId: string,
    partNumber: number,
  ): Promise<number | null> {
    const query = { uploadId, "max-parts": "1", "part-number-marker": String(partNumber - 1) };
    try {
      const { body } = await this.#s3.send({ method: "GET", path: [bucket, key], query });
      const [part] = childNodes(parseDocument(body.toString("utf8"), "ListPartsResult"), "Part");
      return part !== undefined && childText(part, "PartNumber") === String(partNumber)
        ? Number(childText(part, "Size"))
        : null;
    } catch (error) {
      if (error instanceof S3ResponseError && error.status === 404) return null;
      throw error;
    }
  }

  async ping(): Promise<void> {
    await this.#s3.send({ method: "GET", path: [] });
  }

  /**
   * Every version and delete marker once, by key. A key that a page cuts off is left to the next page, which begins with it: the engine's
   * own markers (versitygw 1.8.0) name a current version and a folder again, after a folder also what comes before it, and nothing at all
   * after a version that has gone.
   */
  async *#versionPages(bucket: string, prefix: string): AsyncGenerator<Listed[]> {
    let from: VersionMarker | null = { key: "", versionId: "" };
    while (from !== null) {
      const { listed, cut }: VersionPage = await this.#versionPage(bucket, prefix, from);
      const whole = listed.filter(({ version }) => version.key !== cut?.key);
      yield whole.length > 0 ? whole : listed;
      if (cut === null) from = null;
      // A folder has one version: its entry is whole, and this is behind it.
      else if (cut.versionId === "") from = { key: `${cut.key}/`, versionId: "" };
      // A key of more versions than a page holds comes in parts.
      else from = whole.length > 0 ? { key: cut.key, versionId: "" } : cut;
    }
  }

  async #versionPage(bucket: string, prefix: string, from: VersionMarker): Promise<VersionPage> {
    const markers = { "key-marker": from.key, "version-id-marker": from.versionId };
    const { body } = await this.#s3.send({
      method: "GET",
      path: [bucket],
      query: { versions: "", prefix, "max-keys": this.#pageEntries, ...markers },
    });
    if (from.versionId !== "") await this.#checkIsThere(bucket, from);
    const result = parseDocument(body.toString("utf8"), "ListVersionsResult");
    const read = (name: string, isMarker: boolean): Listed[] =>
      childNodes(result, name).map((node) => listedOf(node, isMarker));
    return {
      listed: [...read("Version", false), ...read("DeleteMarker", true)],
      cut:
        childText(result, "IsTruncated") === "true"
          ? {
              key: childText(result, "NextKeyMarker"),
              versionId: childText(result, "NextVersionIdMarker"),
            }
          : null,
    };
  }

  /** @throws S3UnavailableError for a version that has gone: a page after it says nothing of what is there */
  async #checkIsThere(bucket: string, { key, versionId }: VersionMarker): Promise<void> {
    try {
      await this.#s3.send({ method: "HEAD", path: [bucket, key], query: { versionId } });
    } catch (error) {
      if (!(error instanceof S3ResponseError)) throw error;
      // 405 is a delete marker.
      if (error.status === 404)
        throw new S3UnavailableError("a version went while its key was listed", { cause: error });
      if (error.status !== 405) throw error;
    }
  }

  async #uploadedBytes(bucket: string, { key, uploadId }: OpenUpload): Promise<number> {
    let bytes = LEAST_COST_BYTES;
    let marker: string | null = "0";
    try {
      while (marker !== null) {
        const query: Record<string, string> = {
          uploadId,
          "max-parts": this.#pageEntries,
          "part-number-marker": marker,
        };
        const { body } = await this.#s3.send({ method: "GET", path: [bucket, key], query });
        const result = parseDocument(body.toString("utf8"), "ListPartsResult");
        for (const part of childNodes(result, "Part"))
          bytes += storageCost(Number(childText(part, "Size")));
        marker =
          childText(result, "IsTruncated") === "true"
            ? childText(result, "NextPartNumberMarker")
            : null;
      }
      return bytes;
    } catch (error) {
      // Completed or aborted since it was listed.
      if (error instanceof S3ResponseError && error.status === 404) return 0;
      throw error;
    }
  }
}

/** In code unit order. */
function byKey(versions: ObjectVersion[]): ObjectVersion[] {
  return versions.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** A delete marker has neither size nor ETag. */
function listedOf(node: XmlNode, isMarker: boolean): Listed {
  return {
    version: {
      key: childText(node, "Key"),
      versionId: childText(node, "VersionId"),
      sizeBytes: Number(childText(node, "Size")),
      etag: unquote(childText(node, "ETag")),
    },
    ...{
      isMarker,
      isLatest: childText(node, "IsLatest") === "true",
      modifiedAt: Date.parse(childText(node, "LastModified")),
    },
  };
}

function headerOf(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : "";
}

function unquote(etag: string): string {
  return etag.replace(/^"|"$/g, "");
}
