/**
 * Measured binaries beside the release: before the supervisor starts a part it hashes what of the release the part runs, and the vendor says, in a file that never was on
 * the appliance, what its release holds. All that one entry measured is of one release.
 */
import { SCHEMA_SHA256 } from "../leaf/catalogue.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Releases } from "./releases.ts";

export const MEASURED = "admin.measured";
const SUPERVISOR = "supervisor";
/** All bits: whatever releases there are. */
const ANY = -1;

export type Binaries = {
  /** SHA-256 of each release that was given. */
  releases: readonly string[];
  /** Entries in which the supervisor measured what it was about to start. */
  starts: number;
  /** Those of them that named a file or an image, and were compared with the releases. */
  compared: number;
};

export class Measured {
  readonly #releases: Releases | null;
  #starts = 0;
  #compared = 0;

  /** @param releases null: none was given */
  constructor(releases: Releases | null) {
    this.#releases = releases;
  }

  get binaries(): Binaries {
    return {
      releases: this.#releases?.sha256s ?? [],
      starts: this.#starts,
      compared: this.#compared,
    };
  }

  /** @param leaf of the type {@link MEASURED} */
  fault({ prod, schema_sha256, object, digests, detail = {} }: Leaf): string | null {
    if (prod !== SUPERVISOR || schema_sha256 !== SCHEMA_SHA256) return null;
    this.#starts += 1;
    // Under these schemas the content was checked.
    const files = (detail["files"] ?? []) as readonly { path: string; sha256: string }[];
    const image = digests?.image;
    const releases = this.#releases;
    if (
      releases === null ||
      releases.sha256s.length === 0 ||
      (files.length === 0 && image === undefined)
    )
      return null;
    this.#compared += 1;
    let of = ANY;
    const faultOf = (name: string, holders: number): string | null => {
      of &= holders;
      if (of !== 0) return null;
      const whose = holders === 0 ? "the release's" : "of the release that the rest is of";
      return `CROSS-CHECK: ${object.id} was started with ${name}, which is not ${whose}`;
    };
    for (const { path, sha256 } of files) {
      const fault = faultOf(path, releases.withFile(path, sha256));
      if (fault !== null) return fault;
    }
    return image === undefined
      ? null
      : faultOf(`the image sha256:${image}`, releases.withImage(image));
  }
}

/** A release was given, and nothing in the log could be compared with it. */
export function lacksStarts({ releases, compared }: Binaries): boolean {
  return releases.length > 0 && compared === 0;
}

/** Says how many starts were measured. Null where there is nothing to tell: none was measured, and none was asked for. */
export function binariesText(binaries: Binaries): string | null {
  const { releases, starts, compared } = binaries;
  if (lacksStarts(binaries)) return "no start was measured that could be compared with the release";
  if (starts === 0) return null;
  return `${starts} starts were measured, ${releases.length === 0 ? "and not compared with a release" : `${compared} of them compared with the release`}`;
}
