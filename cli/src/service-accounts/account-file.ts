/** What a program keeps of its service account: one file that holds its private key, and that its owner alone reads. */
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { CliError } from "../cli-error.ts";

export type AccountFile = {
  version: 1;
  baseUrl: string;
  id: string;
  clientId: string;
  name: string;
  projectId: string;
  /** RFC 3339. */
  expiresAt: string;
  /** PKCS #8 PEM, P-256; it was never anywhere else. */
  privateKey: string;
};

/**
 * Takes the place first, so that no account is made whose key can't be kept; takes it back where `make` fails.
 * @throws CliError file_exists, file_unwritable
 */
export async function writeAccountFile(
  file: string,
  make: () => Promise<AccountFile>,
): Promise<AccountFile> {
  const handle = openNew(file);
  try {
    const account = await make();
    writeSync(handle, `${JSON.stringify(account, null, 2)}\n`);
    fsyncSync(handle);
    return account;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** @throws CliError account_file_unreadable, account_file_unsafe, account_file_invalid */
export function readAccountFile(file: string): AccountFile {
  let text: string;
  let mode: number;
  try {
    mode = statSync(file).mode;
    text = readFileSync(file, "utf8");
  } catch {
    throw new CliError("account_file_unreadable", `${file} can't be read`, "Name another file.");
  }
  if ((mode & 0o077) !== 0)
    throw new CliError(
      "account_file_unsafe",
      `others may read ${file}, which holds a private key`,
      `chmod 600 ${file}. If others did read it, revoke the account and make a new one.`,
    );
  const account = parsed(text);
  if (account === null)
    throw new CliError(
      "account_file_invalid",
      `${file} is not what resontech service-accounts create writes`,
      "Name the file that it wrote.",
    );
  return account;
}

function openNew(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CliError(
      isThere ? "file_exists" : "file_unwritable",
      isThere ? `${file} is there already` : `${file} can't be written`,
      "Name another file with --out.",
    );
  }
}

function parsed(text: string): AccountFile | null {
  try {
    const value = JSON.parse(text) as Partial<AccountFile> | null;
    const fields = ["baseUrl", "id", "clientId", "name", "projectId", "expiresAt", "privateKey"];
    const isWhole = fields.every(
      (field) => typeof value?.[field as keyof AccountFile] === "string",
    );
    return isWhole && value?.version === 1 ? (value as AccountFile) : null;
  } catch {
    return null;
  }
}
