/**
 * What the vendor's releases hold, by their `release.json`: a DSSE envelope around an in-toto statement. Its signature is not judged, because no key of the vendor's is
 * known here: the auditor has the file from the vendor, as he has the verifier, and compares its SHA-256.
 */
import { memberOf, readBoundedJson } from "../input/bounded-json.ts";
import { fromBase64, hex } from "../input/bytes.ts";
import { DigestTable } from "./digest-table.ts";
import { Refused } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";
import { secretDigest } from "./secret-digest.ts";

/** Of one file: far above what the product's has, and it bounds how many files and images a release can list. */
export const MAX_RELEASE_BYTES = 3_145_728;
/** A shard is a year: an upgrade a month, and more. A bit of a number is kept for each. */
const MAX_RELEASES = 16;
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const PREDICATE_TYPE = "https://reson.tech/sovereign/release/v1";
const MAX_PATH = 1_024;
const PATH = /^[A-Za-z0-9@._+/-]+$/;
const HEX_32 = /^[0-9a-f]{64}$/;
const IMAGE = /^sha256:[0-9a-f]{64}$/;

export class Releases {
  readonly #sha256: Platform["sha256"];
  readonly #digest: (text: string) => Uint8Array;
  /** Of a file's path and hash, or of an image: a bit for each release that holds it. */
  readonly #held = new DigestTable("numbers");
  /** Of each `release.json`, hex, in the order in which they were given. */
  readonly sha256s: string[] = [];

  constructor({ sha256 }: Pick<Platform, "sha256">) {
    this.#sha256 = sha256;
    this.#digest = secretDigest({ sha256 });
  }

  /**
   * @param bytes of a `release.json`
   * @throws {@link Refused}
   */
  add(bytes: Uint8Array): void {
    if (this.sha256s.length === MAX_RELEASES)
      throw new Refused(`there are more than ${MAX_RELEASES} releases`);
    const { files, images } = contentOf(bytes);
    const bit = 1 << this.sha256s.length;
    for (const { path, sha256 } of files) this.#hold(fileName(path, sha256), bit);
    for (const { digest } of images) this.#hold(digest, bit);
    this.sha256s.push(hex(this.#sha256(bytes)));
  }

  /** A bit for each release that holds this file at this path. */
  withFile(path: string, sha256: string): number {
    return this.#held.numberOf(this.#digest(fileName(path, sha256)));
  }

  /** A bit for each release that this image is of. */
  withImage(sha256: string): number {
    return this.#held.numberOf(this.#digest(`sha256:${sha256}`));
  }

  #hold(name: string, bit: number): void {
    const digest = this.#digest(name);
    this.#held.add(digest, this.#held.numberOf(digest) | bit);
  }
}

/** Names a file by path and digest, never as an image is named: no path holds a line's end. */
function fileName(path: string, sha256: string): string {
  return `${path}\n${sha256}`;
}

type ReleaseFile = { path: string; sha256: string };
type ReleaseImage = { digest: string };

/** Reads only what a start is compared with; all of it before anything is kept. @throws {@link Refused} */
function contentOf(bytes: Uint8Array): { files: ReleaseFile[]; images: ReleaseImage[] } {
  const envelope = readBoundedJson(bytes, MAX_RELEASE_BYTES, "the release");
  const encoded = memberOf(envelope, "payload");
  const isEnvelope =
    memberOf(envelope, "payloadType") === PAYLOAD_TYPE && typeof encoded === "string";
  const payload = isEnvelope ? fromBase64(encoded) : null;
  if (payload === null) throw new Refused("the release is no DSSE envelope around a statement");
  const statement = readBoundedJson(payload, MAX_RELEASE_BYTES, "the release's statement");
  if (memberOf(statement, "predicateType") !== PREDICATE_TYPE)
    throw new Refused("the release's statement is of another kind");
  const predicate = memberOf(statement, "predicate");
  const [files, images] = [memberOf(predicate, "tree"), memberOf(predicate, "images")];
  if (!isListOf(files, isFile))
    throw new Refused("the release does not list its files as one does");
  if (!isListOf(images, isImage))
    throw new Refused("the release does not list its images as one does");
  return { files, images };
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isFile(value: unknown): value is ReleaseFile {
  return isText(memberOf(value, "path"), PATH) && isText(memberOf(value, "sha256"), HEX_32);
}

function isImage(value: unknown): value is ReleaseImage {
  return isText(memberOf(value, "digest"), IMAGE);
}

function isText(value: unknown, form: RegExp): boolean {
  return typeof value === "string" && value.length <= MAX_PATH && form.test(value);
}
