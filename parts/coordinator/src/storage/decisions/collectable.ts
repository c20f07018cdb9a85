/** Which old versions of a bucket's objects nobody needs any more. Pure. */

export type StoredVersion = {
  key: string;
  versionId: string;
  /** 0 for a delete marker. */
  sizeBytes: number;
  isLatest: boolean;
  isMarker: boolean;
  /** Unix milliseconds. */
  modifiedAt: number;
};

export type VersionRef = { key: string; versionId: string };

/** A version that somebody needs; `untilDeleted`: until its owner lays a delete marker over it. */
export type NeededVersion = VersionRef & { untilDeleted: boolean };

/**
 * Versions that are no longer the current one, have not been for `keptMs`, and that no living job reads; and delete markers that hide nothing
 * any more.
 *
 * @param versions all of one key or of several, in any order
 * @param needed those that living jobs read, and that jobs left
 */
export function collectable(
  versions: readonly StoredVersion[],
  needed: readonly NeededVersion[],
  keptMs: number,
  now: number,
): StoredVersion[] {
  const reasons = new Map<string, NeededVersion>();
  for (const one of needed) {
    const ref = refOf(one.key, one.versionId);
    if (one.untilDeleted && reasons.has(ref)) continue;
    reasons.set(ref, one);
  }
  const isNeeded = ({ key, versionId }: StoredVersion, successor: StoredVersion): boolean => {
    const reason = reasons.get(refOf(key, versionId));
    return reason !== undefined && !(reason.untilDeleted && successor.isMarker);
  };
  return [...Map.groupBy(once(versions), ({ key }) => key).values()].flatMap((ofKey) => {
    const newestFirst = ofKey.toSorted(
      (a, b) => Number(b.isLatest) - Number(a.isLatest) || b.modifiedAt - a.modifiedAt,
    );
    const old = newestFirst.filter((version, at) => {
      const successor = newestFirst[at - 1];
      if (version.isLatest || successor === undefined || isNeeded(version, successor)) return false;
      // It was current until the next newer one came. The engine dates a delete marker like the object that it hides, an old version by its end.
      return now - Math.max(successor.modifiedAt, version.modifiedAt) >= keptMs;
    });
    const [latest] = newestFirst;
    const hidesNothing =
      latest?.isMarker === true &&
      old.length === newestFirst.length - 1 &&
      now - latest.modifiedAt >= keptMs;
    // The marker goes last: without it the newest version that is still there would be current again.
    return hidesNothing ? [...old, latest] : old;
  });
}

/** A listing that a write crosses may name the current version among the old ones as well. */
function once(versions: readonly StoredVersion[]): StoredVersion[] {
  const kept = new Map<string, StoredVersion>();
  for (const version of versions) {
    const ref = refOf(version.key, version.versionId);
    if (version.isLatest || !kept.has(ref)) kept.set(ref, version);
  }
  return [...kept.values()];
}

function refOf(key: string, versionId: string): string {
  return `${versionId} ${key}`;
}
