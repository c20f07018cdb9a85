/**
 * Policies that two people put in force in place of the release's: a folder beside the database. They stand in for the set that they were
 * made from, and for no other: a release with other policies decides by its own again.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { putInForce, shippedPolicies } from "../authorization/policies-in-force.ts";
import { type PolicyFiles, policyFilesOf, readPolicyFiles } from "../authorization/policy-files.ts";
import { PolicySet } from "../authorization/policy-set.ts";

const FILES = "cedar";
/** SHA-256 of the release's set that these replace. */
const BASE = "replaces";

export class ChangedPolicies {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Beside the database of the coordinator. */
  static besideDatabase(databaseFile: string): ChangedPolicies {
    return new ChangedPolicies(join(dirname(databaseFile), "policies"));
  }

  /** At the start: what was put in force decides, where it still replaces the release's set. @throws PolicySetInvalid, and nothing is decided */
  use(): void {
    const base = join(this.#folder, BASE);
    if (!existsSync(base) || readFileSync(base, "utf8").trim() !== shippedPolicies().sha256) return;
    putInForce(PolicySet.load(readPolicyFiles(join(this.#folder, FILES))));
  }

  /** Whole or not at all: the folder is exchanged by a rename. @throws PolicySetInvalid before anything changes */
  put(files: Readonly<Record<string, string>>): void {
    const checked = checkPolicies(files);
    const beside = `${this.#folder}.next`;
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(join(beside, FILES), { recursive: true, mode: 0o700 });
    for (const [name, text] of checked.files)
      writeFileSync(join(beside, FILES, name), text, { mode: 0o600, flush: true });
    writeFileSync(join(beside, BASE), shippedPolicies().sha256, { mode: 0o600, flush: true });
    const old = `${this.#folder}.old`;
    rmSync(old, { recursive: true, force: true });
    if (existsSync(this.#folder)) renameSync(this.#folder, old);
    renameSync(beside, this.#folder);
    rmSync(old, { recursive: true, force: true });
    putInForce(checked.set);
  }
}

/** @throws PolicySetInvalid naming the file and why */
export function checkPolicies(files: Readonly<Record<string, string>>): {
  files: PolicyFiles;
  set: PolicySet;
} {
  const read = policyFilesOf(Object.entries(files));
  return { files: read, set: PolicySet.load(read) };
}
