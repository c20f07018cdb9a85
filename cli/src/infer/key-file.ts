/** A predict key in a file that its owner alone reads: it never stands in arguments, which everybody on a host can read. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { CliError } from "../cli-error.ts";

/** As the public client names it. */
const KEY_VARIABLE = "RESON_INFERENCE_API_KEY";

/**
 * Takes a place beside the file first, so that no key is made that can't be kept; the file itself changes whole or not at all.
 * @param isReplaced whether a file that is there gives way: it holds the key before this one
 * @throws CliError file_exists, file_unwritable, and what `make` throws
 */
export async function writeKeyFile<T extends { apiKey: string }>(
  file: string,
  { isReplaced }: { isReplaced: boolean },
  make: () => Promise<T>,
): Promise<T> {
  if (!isReplaced && existsSync(file))
    throw new CliError("file_exists", `${file} is there already`, "Name another --key-file.");
  const beside = `${file}.${process.pid}.new`;
  const handle = openBeside(beside, file);
  try {
    const made = await make();
    writeSync(handle, `${made.apiKey}\n`);
    fsyncSync(handle);
    renameSync(beside, file);
    return made;
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** @param file null: the key is in the environment @throws CliError key_missing, key_file_unreadable, key_file_unsafe */
export function predictKeyFrom(env: NodeJS.ProcessEnv, file: string | null): string {
  const key = (file === null ? (env[KEY_VARIABLE] ?? "") : readKey(file)).trim();
  if (key === "" || /[^!-~]/.test(key))
    throw new CliError(
      "key_missing",
      file === null ? `${KEY_VARIABLE} holds no key` : `${file} holds no key`,
      `Set ${KEY_VARIABLE}, or name a file with --key-file. \`resontech infer rotate-key\` makes a new key.`,
    );
  return key;
}

function readKey(file: string): string {
  let mode: number;
  let text: string;
  try {
    mode = statSync(file).mode;
    text = readFileSync(file, "utf8");
  } catch {
    throw new CliError("key_file_unreadable", `${file} can't be read`, "Name another file.");
  }
  if ((mode & 0o077) !== 0)
    throw new CliError(
      "key_file_unsafe",
      `others may read ${file}, which holds a key`,
      `chmod 600 ${file}. If others did read it: resontech infer rotate-key.`,
    );
  return text;
}

function openBeside(beside: string, file: string): number {
  try {
    return openSync(beside, "wx", 0o600);
  } catch {
    throw new CliError("file_unwritable", `${file} can't be written`, "Name another --key-file.");
  }
}
