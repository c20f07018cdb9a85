/** The bundle of this tree: its size by part, and that a second build from the same cache gives the same release, in seconds. */
import { buildOwnBundle } from "@resontech/house/local-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  progress("building the bundle");
  const first = await buildOwnBundle();
  progress("building it again");
  const second = await buildOwnBundle();
  const megabytes = (bytes: number): number => Number((bytes / 1e6).toFixed(1));
  const figures = {
    total_mb: megabytes(first.bytes),
    parts_mb: Object.fromEntries(
      Object.entries(first.parts).map(([part, bytes]) => [part, megabytes(bytes)]),
    ),
    release: first.releaseDigest,
    second_build_s: second.seconds,
  };
  return { ok: first.releaseDigest === second.releaseDigest && first.bytes > 0, figures };
}
