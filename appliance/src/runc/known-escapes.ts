/** Which escapes from a container a runc is known to allow, by its version. Pure; the table has advisories that no job image must be trusted against. */
export type RuncVersion = {
  /** "1.1.5+ds1" */
  version: string;
  /** What it was built from: "v1.1.12-0-g51d5e946", of Debian the package, "1.1.5+ds1-1+deb12u1"; empty where it is not said. */
  build: string;
};

type Advisory = {
  name: string;
  /** The first version without it, one a line of releases, oldest first; older lines never got it, newer ones never had it. */
  fixedIn: readonly string[];
  /** Builds of an older version to which a distribution brought the fix. */
  backports: readonly RegExp[];
};

/** https://github.com/opencontainers/runc/security/advisories */
const ADVISORIES: readonly Advisory[] = [
  { name: "CVE-2019-5736", fixedIn: ["1.0.0-rc.7"], backports: [] },
  { name: "CVE-2021-30465", fixedIn: ["1.0.0-rc.95"], backports: [/^1\.0\.0~rc93\+ds1-5\+deb11u/] },
  {
    name: "CVE-2024-21626",
    fixedIn: ["1.1.12"],
    backports: [/^1\.1\.5\+ds1-1\+deb12u[1-9]/, /^1\.0\.0~rc93\+ds1-5\+deb11u[3-9]/],
  },
  // Three that were published together, of which one is enough.
  ...["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"].map((name) => ({
    name,
    fixedIn: ["1.2.8", "1.3.3", "1.4.0-rc.3"],
    backports: [],
  })),
];

/** Names of the advisories that this runc is subject to, oldest first; what is no version is subject to none that we know. */
export function knownEscapes({ version, build }: RuncVersion): string[] {
  const own = parse(version);
  if (own === null) return [];
  return ADVISORIES.filter(({ fixedIn, backports }) => {
    if (backports.some((pattern) => pattern.test(build))) return false;
    const fixes = fixedIn.flatMap((fix) => parse(fix) ?? []);
    const ofOwnLine = fixes.find((fix) => fix.major === own.major && fix.minor === own.minor);
    const last = fixes.at(-1);
    return ofOwnLine === undefined
      ? last !== undefined && compare(own, last) < 0
      : compare(own, ofOwnLine) < 0;
  }).map(({ name }) => name);
}

/** What the operator can do where it has one. */
export const RUNC_REMEDY =
  "update runc (or Docker's containerd.io). Where the distribution has nothing newer: its security tracker says whether this build has the fix; until then let only people whom you trust submit jobs";

type Parsed = { major: number; minor: number; patch: number; candidate: number };

/** Debian writes `~rc93`, runc itself `-rc93` and later `-rc.3`. A release is newer than its candidates. */
function parse(text: string): Parsed | null {
  const [, major, minor, patch, candidate] =
    /^(\d+)\.(\d+)\.(\d+)(?:[-~]rc\.?(\d+))?/.exec(text) ?? [];
  if (major === undefined) return null;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    candidate: candidate === undefined ? Number.POSITIVE_INFINITY : Number(candidate),
  };
}

function compare(a: Parsed, b: Parsed): number {
  for (const part of ["major", "minor", "patch", "candidate"] as const)
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  return 0;
}
