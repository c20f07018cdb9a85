/** The npm packages that our compiled programs hold, each with its licence in its own words. */
import { readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

const LICENCE_FILE = /^(licen[cs]e|notice|copying)\b/i;
const RULE = "-".repeat(79);

/** As far as it is read here; older packages name their licences in other forms. */
type PackageJson = {
  name: string;
  version: string;
  license?: string | { type: string };
  licenses?: readonly { type: string }[];
};

/**
 * Folders of the packages that these files are of, each once: `node_modules/a/lib/x.js` → `node_modules/a`. Files of our own are passed over.
 * @param files below `repository`, by either form of path
 */
export function packageFolders(repository: string, files: readonly string[]): string[] {
  const folders = files.flatMap((file) => {
    const path = isAbsolute(file) ? relative(repository, file) : file;
    // A package may have packages of its own below it: the innermost is meant.
    return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/?]+/.exec(path) ?? [];
  });
  return [...new Set(folders)].sort();
}

/** @param folders as {@link packageFolders} has them @throws Error for a package that states no licence: somebody must look before it ships */
export function describePackages(repository: string, folders: readonly string[]): string {
  const seen = new Map<string, string>();
  for (const folder of folders) {
    const at = join(repository, folder);
    const about = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as PackageJson;
    const title = `${about.name} ${about.version}`;
    const licence = licenceOf(about);
    if (licence === null) throw new Error(`${folder}/package.json states no licence`);
    const texts = readdirSync(at)
      .filter((name) => LICENCE_FILE.test(name))
      .sort()
      .map((name) => readFileSync(join(at, name), "utf8").trim());
    const text =
      texts.length === 0 ? "The package has no text of its licence." : texts.join("\n\n");
    seen.set(title, `${RULE}\n${title}\nLicence: ${licence}\n\n${text}\n`);
  }
  return [...seen]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, entry]) => entry)
    .join("\n");
}

function licenceOf({ license, licenses }: PackageJson): string | null {
  if (typeof license === "string") return license;
  if (license !== undefined) return license.type;
  return licenses === undefined ? null : licenses.map(({ type }) => type).join(" OR ");
}
