/** A set of policies as files, and the digest by which it is named. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Of the actions and of all that rules speak about. */
export const SCHEMA_FILE = "schema.cedarschema";
const MAX_FILES = 100;
const MAX_BYTES = 1024 * 1024;
const FILE_NAME = /^[a-z0-9][a-z0-9-]{0,63}\.cedar$/;

/** Name → text, sorted by name. */
export type PolicyFiles = ReadonlyMap<string, string>;

/** A folder or what stands in it is no set of policies that decides; says in which file and why. */
export class PolicySetInvalid extends Error {
  override readonly name = "PolicySetInvalid";
  readonly code = "policy_set_invalid";
  readonly hint =
    "Correct the named file; policies/README.md of the release says what a policy needs.";
  readonly file: string;

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(`${file}: ${message}`, options);
    this.file = file;
  }
}

/** All files of the folder. @throws PolicySetInvalid where it holds anything else than policies and their schema */
export function readPolicyFiles(folder: string): PolicyFiles {
  const names = readdirSync(folder).sort(byBytes);
  if (names.length > MAX_FILES) throw new PolicySetInvalid(folder, `more than ${MAX_FILES} files`);
  if (!names.includes(SCHEMA_FILE)) throw new PolicySetInvalid(folder, `has no ${SCHEMA_FILE}`);
  const files = new Map<string, string>();
  let bytes = 0;
  for (const name of names) {
    if (name !== SCHEMA_FILE && !FILE_NAME.test(name))
      throw new PolicySetInvalid(
        name,
        "is no policy file: lower-case letters, digits and -, then .cedar",
      );
    const file = statSync(join(folder, name));
    bytes += file.size;
    if (!file.isFile() || bytes > MAX_BYTES)
      throw new PolicySetInvalid(name, `is no file, or the set is larger than ${MAX_BYTES} bytes`);
    files.set(name, textOf(name, readFileSync(join(folder, name))));
  }
  return files;
}

/**
 * SHA-256 of what `LC_ALL=C sha256sum *` prints in the folder: anybody can make it with
 * `LC_ALL=C sha256sum * | sha256sum`. A changed comment is another set.
 */
export function digestOf(files: PolicyFiles): string {
  const lines = [...files]
    .sort(([a], [b]) => byBytes(a, b))
    .map(([name, text]) => `${sha256(text)}  ${name}\n`);
  return sha256(lines.join(""));
}

function textOf(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new PolicySetInvalid(name, "is no UTF-8 text", { cause });
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** As the C locale sorts; names are ASCII. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
