import { openSync, readFileSync, statSync } from "node:fs";
import { ReadStream, WriteStream } from "node:tty";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

const TOKEN = /^rtj_[A-Za-z0-9_-]{43}$/;
const MAX_BYTES = 1024;

/** No token that could be one was given. */
export class TokenMissingError extends Error {
  readonly code = "join_token_missing";
  readonly hint =
    "`appliance node add NAME` shows the token; give it at the prompt, or in a file with --token-file FILE";
}

/**
 * The one-use token: from a file, from standard input (`-`), or from the person at the terminal, who does not see it. Never from an argument,
 * which every user of the host can read.
 *
 * @throws TokenMissingError
 */
export async function askToken(file: string | null): Promise<string> {
  const token = (file === null ? await fromTerminal() : fromFile(file)).trim();
  if (!TOKEN.test(token))
    throw new TokenMissingError(
      token === "" ? "no join token was given" : "what was given is no join token",
    );
  return token;
}

function fromFile(file: string): string {
  if (file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new TokenMissingError(`${file} is no file`);
  return readFileSync(file === "-" ? 0 : file, "utf8").slice(0, MAX_BYTES);
}

/** The terminal itself: standard input may be something else. */
async function fromTerminal(): Promise<string> {
  let input: ReadStream;
  try {
    input = new ReadStream(openSync("/dev/tty", "r"));
  } catch (cause) {
    throw new TokenMissingError("nobody is there to give the join token", { cause });
  }
  const shown = new WriteStream(openSync("/dev/tty", "w"));
  shown.write("join token (it is not shown): ");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: silent, terminal: true });
  try {
    return await prompt.question("");
  } finally {
    prompt.close();
    shown.write("\n");
    shown.destroy();
    input.destroy();
  }
}
