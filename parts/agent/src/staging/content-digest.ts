import { createHash } from "node:crypto";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { MemberFailure } from "../member-failure.ts";

/** What a content must be, fed as it comes; nothing is known of some (the ETag of a multipart object is no MD5 of the whole). */
export class ContentDigest {
  readonly #target: string;
  readonly #wanted: string | null;
  readonly #hash;

  constructor({ target, etag, sha256 }: Pick<StagedInput, "target" | "etag" | "sha256">) {
    this.#target = target;
    const plain = etag.replaceAll('"', "");
    this.#wanted = sha256 ?? (/^[0-9a-f]{32}$/.test(plain) ? plain : null);
    this.#hash = this.#wanted === null ? null : createHash(sha256 === undefined ? "md5" : "sha256");
  }

  add(bytes: Buffer): void {
    this.#hash?.update(bytes);
  }

  /** @throws MemberFailure `staging_failed` */
  check(): void {
    if (this.#hash !== null && this.#hash.digest("hex") !== this.#wanted)
      throw new MemberFailure(
        "staging_failed",
        `the content of ${this.#target} is not what was accepted`,
      );
  }
}
