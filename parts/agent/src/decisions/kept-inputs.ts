/** What a node keeps of inputs between members: under which name, and which goes first. Pure. */
import type { StagedInput } from "@resontech/contracts/agent-protocol";

/** @property sha256 of the content as it was stored here, in hex */
export type KeptFile = { key: string; sizeBytes: number; sha256: string };

/**
 * What its file's name begins with; null for what is not kept: nothing says which content it is, or it is read once.
 * A digest names the content wherever it lies, and a version one object.
 */
export function keptKey({
  kind,
  sha256,
  version,
}: Pick<StagedInput, "kind" | "sha256" | "version">): string | null {
  if (kind === "checkpoint") return null;
  if (sha256 !== undefined) return `content-${sha256}`;
  return version === undefined ? null : `version-${version}`;
}

/** The name says what must be found in the file, so that no list of what is kept can be lost. */
export function keptName({ key, sha256 }: Pick<KeptFile, "key" | "sha256">): string {
  return `${key}.${sha256}`;
}

/** Null for what is no whole file of ours. */
export function readKeptName(name: string): Pick<KeptFile, "key" | "sha256"> | null {
  const [, key, sha256] = /^((?:content|version)-[0-9a-f]{64})\.([0-9a-f]{64})$/.exec(name) ?? [];
  return key === undefined || sha256 === undefined ? null : { key, sha256 };
}

/**
 * Which go so that so many bytes come free; null where all that may go is not enough.
 * @param kept the least recently used first
 */
export function chooseEvictions(
  kept: Iterable<KeptFile>,
  wantedBytes: number,
  isUsed: (key: string) => boolean,
): KeptFile[] | null {
  const chosen: KeptFile[] = [];
  let leftBytes = wantedBytes;
  for (const file of kept) {
    if (leftBytes <= 0) break;
    if (isUsed(file.key)) continue;
    chosen.push(file);
    leftBytes -= file.sizeBytes;
  }
  return leftBytes > 0 ? null : chosen;
}
