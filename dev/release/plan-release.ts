/** What a new release changes in the files of this tree. Pure: from their texts to their texts. */
import { compareVersions } from "@resontech/installer/release-order";
import { ReleaseRefusedError } from "./release-refused-error.ts";

/** Texts by path in the tree. */
export type Texts = Readonly<Record<string, string>>;
export type ReleasePlan = {
  from: string;
  to: string;
  /** Those that change alone. */
  files: Texts;
  /** The section of the CHANGELOG, for whoever reads the tag. */
  notes: string;
};

export const CHANGELOG = "CHANGELOG.md";
export const NPM_LOCK = "package-lock.json";
/** The version that a bundle has, and its number among all releases. */
export const BUNDLE_LOCK = "airgap/lock.json";

const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const UNRELEASED = "## Unreleased";

/** The `package.json` of this tree and of its rooms. */
export function packageFiles(rooms: readonly string[]): string[] {
  return ["package.json", ...rooms.map((room) => `${room}/package.json`)];
}

/** @param date of the heading, as 2026-12-01 @throws ReleaseRefusedError */
export function planRelease(texts: Texts, to: string, date: string): ReleasePlan {
  const from = versionOf(texts["package.json"]!);
  if (!VERSION.test(to))
    throw new ReleaseRefusedError(
      "version_malformed",
      `${JSON.stringify(to)} is no version`,
      "say one as 0.2.0 or 0.2.0-rc.1",
    );
  if (compareVersions(to, from) <= 0)
    throw new ReleaseRefusedError(
      "version_not_higher",
      `this tree has ${from}, and ${to} is not higher`,
      `say a version above ${from}`,
    );
  const { text, notes } = withHeading(texts[CHANGELOG]!, to, date);
  const changed: Record<string, string> = { [CHANGELOG]: text };
  for (const file of Object.keys(texts).filter((path) => /(^|\/)package\.json$/.test(path)))
    changed[file] = withVersion(file, texts[file]!, from, to);
  changed[NPM_LOCK] = withLockedVersions(texts[NPM_LOCK]!, from, to);
  changed[BUNDLE_LOCK] = withNextNumber(withVersion(BUNDLE_LOCK, texts[BUNDLE_LOCK]!, from, to));
  return { from, to, files: changed, notes };
}

function versionOf(text: string): string {
  return (JSON.parse(text) as { version: string }).version;
}

/** Its own version, and those of our rooms that it needs. The rest of the text stays as it is. */
function withVersion(file: string, text: string, from: string, to: string): string {
  if (versionOf(text) !== from)
    throw new ReleaseRefusedError(
      "versions_differ",
      `${file} has ${versionOf(text)}, and package.json has ${from}`,
      "give all of them one version first",
    );
  return text
    .replace(/^( {2}"version": )"[^"]*"/m, `$1"${to}"`)
    .replaceAll(/^( +"@resontech\/[^"]+": )"([^"]*)"/gm, (line, key: string, needs: string) =>
      needs === from ? `${key}"${to}"` : line,
    );
}

type LockedPackage = {
  name?: string;
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

/** npm writes the file in this very form. */
function withLockedVersions(text: string, from: string, to: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, LockedPackage> };
  lock.version = to;
  for (const [path, locked] of Object.entries(lock.packages)) {
    const isOurs = path === "" || (locked.name ?? "").startsWith("@resontech/");
    if (isOurs && locked.version === from) locked.version = to;
    for (const needs of [locked.dependencies ?? {}, locked.devDependencies ?? {}])
      for (const [name, version] of Object.entries(needs))
        if (name.startsWith("@resontech/") && version === from) needs[name] = to;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** The signed metadata of bundles count by it, and never go back. */
function withNextNumber(text: string): string {
  return text.replace(
    /^( {2}"releaseNumber": )(\d+)/m,
    (_, key: string, number: string) => `${key}${Number(number) + 1}`,
  );
}

function withHeading(text: string, to: string, date: string): { text: string; notes: string } {
  const at = text.indexOf(`${UNRELEASED}\n`);
  if (at === -1)
    throw new ReleaseRefusedError(
      "unreleased_missing",
      `${CHANGELOG} has no heading "${UNRELEASED}"`,
      "write it above the newest release",
    );
  const begin = at + UNRELEASED.length;
  const next = text.indexOf("\n## ", begin);
  const notes = text.slice(begin, next === -1 ? undefined : next).trim();
  if (!/^[-*] \S/m.test(notes))
    throw new ReleaseRefusedError(
      "unreleased_empty",
      `nothing stands under "${UNRELEASED}" of ${CHANGELOG}`,
      "write there what the release brings to those who use it",
    );
  return { text: `${text.slice(0, begin)}\n\n## ${to} - ${date}${text.slice(begin)}`, notes };
}
