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
  const names = readdirSync(folder);
  requireNames(names);
  let bytes = 0;
  for (const name of names) {
    const file = statSync(join(folder, name));
    if (!file.isFile()) throw new PolicySetInvalid(name, "is no file");
    bytes += file.size;
  }
  requireSize(bytes);
  return policyFilesOf(names.map((name) => [name, textOf(name, readFileSync(join(folder, name)))]));
}

/** Files that somebody else read. @throws PolicySetInvalid as {@link readPolicyFiles} does */
export function policyFilesOf(files: Iterable<readonly [string, string]>): PolicyFiles {
  const sorted = [...files].sort(([a], [b]) => byBytes(a, b));
  requireNames(sorted.map(([name]) => name));
  requireSize(sorted.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0));
  return new Map(sorted);
}

function requireNames(names: readonly string[]): void {
  if (names.length > MAX_FILES)
    throw new PolicySetInvalid("the folder", `has more than ${MAX_FILES} files`);
  if (!names.includes(SCHEMA_FILE))
    throw new PolicySetInvalid("the folder", `has no ${SCHEMA_FILE}`);
  const stranger = names.find((name) => name !== SCHEMA_FILE && !FILE_NAME.test(name));
  if (stranger !== undefined)
    throw new PolicySetInvalid(
      stranger,
      "is no policy file: lower-case letters, digits and -, then .cedar",
    );
}

function requireSize(bytes: number): void {
  if (bytes > MAX_BYTES)
    throw new PolicySetInvalid("the folder", `holds more than ${MAX_BYTES} bytes`);
}

/**
 * SHA-256 of what `LC_ALL=C sha256sum *` prints in the folder: anybody can make it with
 * `LC_ALL=C sha256sum * | sha256sum`. A changed comment is another set.
 */
export function digestOf(files: PolicyFiles): string {
  const lines = [...files].map(([name, text]) => `${sha256(text)}  ${name}\n`);
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

/** Compares as the C locale sorts; names are ASCII. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
