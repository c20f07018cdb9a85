/** The release's copies of the offline verifier, to be compared with what the vendor's release gave an auditor. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Layout } from "@resontech/frame/layout";

const FILES = ["sov-verify.mjs", "sov-verify.html"] as const;

/** `sha256` in hexadecimal digits. */
export type VerifierDigest = { file: string; sha256: string };

/** @throws when the release has no such file */
export function verifierDigests(layout: Layout): VerifierDigest[] {
  return FILES.map((name) => {
    const file = layout.release("app", name);
    return { file, sha256: createHash("sha256").update(readFileSync(file)).digest("hex") };
  });
}
