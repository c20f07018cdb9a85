/** Pure: what an upgrade changes, and what it takes. */
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";

/** As much of a release as is compared. */
export type ComparedRelease = Pick<ReleaseManifest, "version" | "tree" | "images" | "engines">;

export type UpgradePlan = {
  /** Programs and engines whose bytes are others, by name. */
  programs: readonly string[];
  /** Files that are others, new or gone, of all. */
  files: { changed: number; of: number };
  images: { name: string; change: "same" | "other" | "new" | "gone" }[];
  /** Of blobs that the store lacks. */
  newBytes: number;
  /** Another Keycloak makes of people's database what the present one can't open: a copy stays. Null where it is the same. */
  keptDatabase: { from: string; to: string; bytes: number } | null;
  /** Of new images once they are unpacked; null where the release does not say. */
  unpackedBytes: number | null;
};

/** What the appliance has. @property isStored whether it has a blob @property databaseBytes of people's database */
export type Holdings = { isStored: (sha256: string) => boolean; databaseBytes: number };

export function planUpgrade(
  from: ComparedRelease,
  to: ComparedRelease & Pick<ReleaseManifest, "blobs">,
  { isStored, databaseBytes }: Holdings,
): UpgradePlan {
  const before = new Map(from.tree.map(({ path, sha256 }) => [path, sha256]));
  const changed = to.tree.filter(({ path, sha256 }) => before.get(path) !== sha256);
  const paths = new Set(to.tree.map(({ path }) => path));
  const gone = from.tree.filter(({ path }) => !paths.has(path)).length;
  const images = compareImages(from.images, to.images);
  const unpacked = to.images
    .filter(({ repository }) =>
      images.some(({ name, change }) => name === repository && change !== "same"),
    )
    .map(({ unpackedBytes }) => unpackedBytes ?? null);
  return {
    programs: changed.flatMap(({ path }) => programOf(path)).toSorted(),
    files: { changed: changed.length + gone, of: paths.size + gone },
    images,
    newBytes: to.blobs
      .filter(({ sha256 }) => !isStored(sha256))
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    keptDatabase: compareKeycloak(from, to, databaseBytes),
    unpackedBytes: unpacked.includes(null)
      ? null
      : unpacked.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0),
  };
}

function compareKeycloak(
  { engines: before }: ComparedRelease,
  { engines: after }: ComparedRelease,
  bytes: number,
): UpgradePlan["keptDatabase"] {
  const [from, to] = [before["keycloak"]?.version ?? "none", after["keycloak"]?.version ?? "none"];
  return from === to ? null : { from, to, bytes };
}

function compareImages(
  from: ReleaseManifest["images"],
  to: ReleaseManifest["images"],
): UpgradePlan["images"] {
  const before = new Map(from.map(({ repository, digest }) => [repository, digest]));
  const after = new Set(to.map(({ repository }) => repository));
  return [
    ...to.map(({ repository, digest }) => {
      const known = before.get(repository);
      const change = known === undefined ? "new" : known === digest ? "same" : "other";
      return { name: repository, change } as const;
    }),
    ...from
      .filter(({ repository }) => !after.has(repository))
      .map(({ repository }) => ({ name: repository, change: "gone" }) as const),
  ];
}

/** `app/coordinator.mjs`, `engines/nats-server`: what a person knows by name. */
function programOf(path: string): string[] {
  const [, name] = /^(?:app|engines|bin)\/([^/]+?)(?:\.mjs)?$/.exec(path) ?? [];
  return name === undefined ? [] : [name];
}

const WIDTH = 76;

/**
 * Lines for a person.
 *
 * @param startMs how long every part took to start when that was last done; null: not known
 */
export function describePlan(plan: UpgradePlan, startMs: number | null): string[] {
  const others = plan.images.filter(({ change }) => change !== "same");
  const { keptDatabase: kept } = plan;
  const [newMb, unpackedMb] = [mb(plan.newBytes), mb(plan.unpackedBytes ?? 0)];
  return [
    `changes: ${plan.files.changed} of ${plan.files.of} files${plan.programs.length === 0 ? "" : ", with them"}`,
    ...wrap(plan.programs).map((line) => `  ${line}`),
    others.length === 0
      ? `images: all ${plan.images.length} stay`
      : `images: ${others.map(({ name, change }) => `${name} (${change})`).join(", ")}; ${plan.images.length - others.length} stay`,
    `disk: ${newMb} MB to import, ${plan.unpackedBytes === null ? "images" : `${unpackedMb} MB of images`} to unpack, copies of databases with a new schema`,
    ...(kept === null
      ? []
      : [
          `people: Keycloak ${kept.from} → ${kept.to}; their database stays as a copy of ${mb(kept.bytes)} MB, for a return`,
        ]),
    `restarts: every part; ${startMs === null ? "the API is away for some seconds" : `all were healthy after ${Math.ceil(startMs / 1_000)} s the last time`}`,
  ];
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function wrap(names: readonly string[]): string[] {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + name.length + 2 <= WIDTH)
      lines[lines.length - 1] = `${last}, ${name}`;
    else lines.push(name);
  }
  return lines;
}
