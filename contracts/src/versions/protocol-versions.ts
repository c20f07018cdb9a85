/**
 * Two programs of ours agree on a version of their protocol when they meet: the one that calls says which it speaks, the one that is called
 * answers which to use, or refuses. docs/developer/compatibility.md says when a version is due.
 */
import { type Static, Type } from "typebox";

const Version = Type.Integer({ minimum: 1, maximum: 65_535 });

/** A single number: that one alone. Callers of one version say it so, as the first release did. */
export const ProtocolVersions = Type.Union([
  Version,
  Type.Object({ min: Version, max: Version }, { additionalProperties: false }),
]);
export type ProtocolVersions = Static<typeof ProtocolVersions>;
/** The version that was agreed on; absent from peers that know of one only. */
export const AgreedProtocol = Type.Optional(Version);

export type VersionRange = { readonly min: number; readonly max: number };

/** Code of the refusal, in every protocol. */
export const PROTOCOL_UNSUPPORTED = "protocol_unsupported";

/** Writes the range as it is sent. */
export function versionsOf({ min, max }: VersionRange): ProtocolVersions {
  return min === max ? min : { min, max };
}

/** The newest that both speak; null where there is none. */
export function agreedVersion(ours: VersionRange, theirs: ProtocolVersions): number | null {
  const { min, max } = rangeOf(theirs);
  const newest = Math.min(ours.max, max);
  return newest >= Math.max(ours.min, min) ? newest : null;
}

/** Says both ranges, and which side is to be upgraded. */
export function refusalText(
  protocol: string,
  ours: VersionRange & { name: string },
  theirs: { versions: ProtocolVersions; name: string },
): string {
  const range = rangeOf(theirs.versions);
  const older = range.max < ours.min ? theirs.name : ours.name;
  const spoken = ({ min, max }: VersionRange) => (min === max ? `${min}` : `${min} to ${max}`);
  return `${theirs.name} speaks ${protocol} ${spoken(range)}, ${ours.name} ${spoken(ours)}: upgrade ${older}, or put the other back to its earlier release`;
}

function rangeOf(versions: ProtocolVersions): VersionRange {
  return typeof versions === "number" ? { min: versions, max: versions } : versions;
}
