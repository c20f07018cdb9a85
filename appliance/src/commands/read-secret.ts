/** A secret for a command: from a file that root alone reads, or typed without being shown. Never from the command line, which everybody on the host can read. */
import { fstatSync, openSync, readFileSync, closeSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

const MAX_CHARACTERS = 4_096;

/** Reports that there is no secret to work with. */
export class SecretError extends Error {
  override readonly name = "SecretError";
  readonly code: "secret_missing" | "secret_readable" | "secret_invalid";
  readonly hint: string;

  constructor(code: SecretError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** @param file null: it is typed @param option how the file is named on the command line @throws SecretError */
export async function readSecret(
  file: string | null,
  prompt: string,
  option: string,
): Promise<string> {
  if (file === null && !process.stdin.isTTY)
    throw new SecretError(
      "secret_missing",
      `nobody is there to type the ${prompt}`,
      `Give ${option} FILE, or run the command in a terminal.`,
    );
  const text = file === null ? await typed(prompt) : readSecretFile(file);
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "" || secret.length > MAX_CHARACTERS || /[\0\r\n]/.test(secret))
    throw new SecretError(
      "secret_invalid",
      `the ${prompt} is empty, too long, or more than one line`,
      "Give one line.",
    );
  return secret;
}

/** All of a file that root alone may read. @throws SecretError `secret_readable` */
export function readSecretFile(file: string): string {
  const fd = openSync(file, "r");
  try {
    const { mode, uid } = fstatSync(fd);
    // A pipe is nobody else's.
    if (fstatSync(fd).isFile() && ((mode & 0o077) !== 0 || uid !== 0))
      throw new SecretError(
        "secret_readable",
        `${file} can be read by others than root`,
        `chown root ${file}; chmod 600 ${file}`,
      );
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

async function typed(prompt: string): Promise<string> {
  process.stderr.write(`${prompt}: `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
