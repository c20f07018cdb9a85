import { open } from "node:fs/promises";
import type { StagedInput } from "@resontech/contracts/agent-protocol";
import { ContentDigest } from "./content-digest.ts";
import { KeptCopy } from "./kept-copy.ts";
import { objectBytes, type Source } from "./object-bytes.ts";

export type FetchedInput = Pick<StagedInput, "target" | "sizeBytes" | "etag" | "sha256">;

/**
 * Streams one object to a new file and checks its size and, where a digest is known, its content.
 * @param copy a file to keep the same bytes in
 * @returns the SHA-256 of that copy, in hex; null where there is none
 * @throws MemberFailure `staging_failed`; ENOSPC of a full disk; the signal's reason
 */
export async function fetchFile(
  source: Source,
  input: FetchedInput,
  file: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
  copy?: string,
): Promise<string | null> {
  const digest = new ContentDigest(input);
  await using kept = new KeptCopy(copy);
  await using target = await open(file, "w", 0o644);
  for await (const chunk of objectBytes(
    source,
    input,
    { start: 0, end: input.sizeBytes },
    signal,
  )) {
    digest.add(chunk);
    await target.writeFile(chunk);
    await kept.write(chunk);
    onBytes(chunk.length);
  }
  digest.check();
  return await kept.finish();
}
