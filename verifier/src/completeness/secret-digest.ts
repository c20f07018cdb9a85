/** Digests that nobody can know beforehand, of what a log's writer chooses: under a secret of the run. */
import { hex, utf8 } from "../input/bytes.ts";
import type { Platform } from "../platform/platform.ts";

const SECRET_BYTES = 16;

export function secretDigest({ sha256 }: Pick<Platform, "sha256">): (text: string) => Uint8Array {
  const secret = hex(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  return (text) => sha256(utf8(`${secret}\n${text}`));
}
