/** A vendor's `release.json` of a test's own making: the parts of it that a start is compared with. */
import { DSSE_PAYLOAD_TYPE, RELEASE_PREDICATE_TYPE } from "@resontech/contracts/release-manifest";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { Releases } from "../../src/completeness/releases.ts";

export type Held = { tree?: unknown; images?: unknown };

/** @param changes of the statement */
export function madeRelease(
  { tree = [], images = [] }: Held,
  changes: Record<string, unknown> = {},
): Buffer {
  return enveloped(
    JSON.stringify({
      predicateType: RELEASE_PREDICATE_TYPE,
      predicate: { tree, images },
      ...changes,
    }),
  );
}

export function enveloped(statement: string | Buffer): Buffer {
  const payload = Buffer.from(statement).toString("base64");
  return Buffer.from(JSON.stringify({ payloadType: DSSE_PAYLOAD_TYPE, payload, signatures: [] }));
}

export function releasesOf(...files: readonly Uint8Array[]): Releases {
  const releases = new Releases(nodePlatform);
  for (const file of files) releases.add(file);
  return releases;
}
