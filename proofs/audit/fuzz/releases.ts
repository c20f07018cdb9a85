/** Releases as the vendor signs them, what their envelopes are changed into, and what a log measured of them: by code that shares nothing with the verifier's. */
import { changeBytes } from "./change-bytes.ts";
import { canonicalText, changeJson } from "./change-json.ts";
import type { Dice } from "./dice.ts";
import type { Measured } from "../honest/honest-log.ts";
import { sha256 } from "./merkle.ts";

const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const PREDICATE_TYPE = "https://reson.tech/sovereign/release/v1";

type File = Measured["files"][number];
type Statement = {
  _type: string;
  predicateType: string;
  predicate: { tree: File[]; images: { digest: string }[] };
};
/** What one start measured. */
type Start = Omit<Measured, "part">;

/** Numbers below it are of releases that an auditor may hand over. */
export const VERSIONS = 3;
const PARTS = ["auditd", "coordinator", "vault"];
/** Of three MiB that a release may have. */
const FULL = 22_000;
/** One more than the verifier takes. */
const MAX_GIVEN = 17;
const digest = (text: string): string => sha256(Buffer.from(text)).toString("hex");
const file = (path: string, version: number): File => ({
  path,
  sha256: digest(`${path} ${version}`),
});

/** Files of one version; one is the same in all. */
export function filesOf(version: number): File[] {
  return [...PARTS.map((part) => file(`app/${part}.mjs`, version)), file("bin/node", 0)];
}

export function imageOf(version: number): string {
  return digest(`image ${version}`);
}

/** Each part, a container and a program of the host. */
export function startsOfVersion(version: number): Measured[] {
  const [node] = filesOf(version).slice(-1);
  const parts = PARTS.map((part, at) => ({
    part,
    files: [filesOf(version)[at]!, node!],
    image: null,
  }));
  return [
    ...parts,
    { part: "keycloak", files: [], image: imageOf(version) },
    { part: "podman", files: [], image: null },
  ];
}

export function statementOf(version: number, tree: File[] = filesOf(version)): Statement {
  const images = [{ digest: `sha256:${imageOf(version)}` }];
  return {
    _type: "https://in-toto.io/Statement/v1",
    predicateType: PREDICATE_TYPE,
    predicate: { tree, images },
  };
}

export function enveloped(payload: Buffer | string): Buffer {
  const signatures = [{ keyid: digest("key"), sig: Buffer.alloc(64).toString("base64") }];
  return Buffer.from(
    JSON.stringify({
      payload: Buffer.from(payload).toString("base64"),
      payloadType: PAYLOAD_TYPE,
      signatures,
    }),
  );
}

/** As many files as one may list: all its own. */
export function fullRelease(number: number): Buffer {
  const tree = Array.from({ length: FULL }, (_, at) => file(`${at}`.padStart(9, "0"), number));
  return enveloped(JSON.stringify(statementOf(number, tree)));
}

export function release(version: number): Buffer {
  return enveloped(JSON.stringify(statementOf(version)));
}

/** Its bytes, its envelope, its statement's bytes, or what the statement says. */
function changeRelease(bytes: Buffer, dice: Dice): Buffer {
  const envelope = parsed(bytes);
  const payload = payloadOf(envelope);
  if (payload === null || dice.chance(0.2))
    return changeBytes(bytes, dice, [release(dice.below(VERSIONS))]);
  if (dice.chance(0.2)) return Buffer.from(canonicalText(changeJson(envelope, dice, [envelope])));
  const statement = parsed(payload);
  if (statement === undefined || dice.chance(0.3))
    return enveloped(changeBytes(payload, dice, [release(dice.below(VERSIONS))]));
  return enveloped(canonicalText(changeJson(statement, dice, [statementOf(dice.below(VERSIONS))])));
}

/** One more, one less, another, or one that is changed. */
export function changeReleases(releases: readonly Buffer[], dice: Dice): Buffer[] {
  const at = dice.below(releases.length);
  return dice.weighted<() => Buffer[]>([
    [2, () => [...releases, release(dice.below(VERSIONS))].slice(-MAX_GIVEN)],
    [1, () => releases.toSpliced(at, 1)],
    [
      1,
      () =>
        Array.from({ length: dice.pick([MAX_GIVEN - 1, MAX_GIVEN]) }, () =>
          release(dice.below(VERSIONS)),
        ),
    ],
    [6, () => releases.map((one, number) => (number === at ? changeRelease(one, dice) : one))],
  ])();
}

/** Why a log with these starts may not pass beside these releases; null when it may. */
export function releaseObjection(
  starts: readonly Start[],
  releases: readonly Buffer[],
): string | null {
  if (releases.length === 0) return null;
  const named = starts.filter(({ files, image }) => files.length > 0 || image !== null);
  if (named.length === 0) return "passes beside a release, and no start was measured";
  const held = releases.map(
    (one) => parsed(payloadOf(parsed(one)) ?? Buffer.alloc(0)) as Statement,
  );
  const isOf = ({ files, image }: Start, { predicate }: Statement): boolean =>
    files.every(({ path, sha256: hash }) =>
      predicate.tree.some((one) => one.path === path && one.sha256 === hash),
    ) &&
    (image === null || predicate.images.some((one) => one.digest === `sha256:${image}`));
  return named.every((start) => held.some((one) => isOf(start, one)))
    ? null
    : "passes beside releases that do not hold what was started";
}

/** What the supervisor measured, by the texts of entries. */
export function startsOf(leaves: readonly string[]): Start[] {
  return leaves.flatMap((leaf) => {
    const { type, prod, detail, digests } = JSON.parse(leaf) as Record<
      string,
      Record<string, unknown> | string | undefined
    >;
    if (type !== "admin.measured" || prod !== "supervisor") return [];
    const { files = [] } = (detail ?? {}) as { files?: File[] };
    return [{ files, image: ((digests ?? {}) as { image?: string }).image ?? null }];
  });
}

function payloadOf(envelope: unknown): Buffer | null {
  const { payload } = (envelope ?? {}) as { payload?: unknown };
  return typeof payload === "string" ? Buffer.from(payload, "base64") : null;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
