/** Whose the file systems are that are mounted below an install. Pure. */

/** Folders in which the agent mounts the disks of members, and the container engine its images. */
const ENGINES = ["data/podman", "data/agent"];

export type Mounts = {
  /** Made by the appliance, in the order in which they were mounted: they go. */
  own: readonly string[];
  /** A disk that the operator gave to a folder of the appliance: what is on it goes, the disk stays mounted. */
  disks: readonly string[];
  /** Somebody else's. */
  foreign: readonly string[];
};

/**
 * @param points in the order in which they were mounted
 * @param entries what the install makes directly below its root
 * @param dataFolders what it makes below `data`
 */
export function evaluateMounts(
  points: readonly string[],
  root: string,
  entries: readonly string[],
  dataFolders: readonly string[],
): Mounts {
  const below = points.filter((point) => point.startsWith(`${root}/`));
  const given = new Set(
    [...entries, ...dataFolders.map((name) => `data/${name}`)].map((name) => `${root}/${name}`),
  );
  const isOwn = (point: string) => ENGINES.some((name) => point.startsWith(`${root}/${name}/`));
  return {
    own: below.filter(isOwn),
    disks: below.filter((point) => !isOwn(point) && given.has(point)),
    foreign: below.filter((point) => !isOwn(point) && !given.has(point)),
  };
}
