import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

/** More than a token and its newline is no token. */
const MAX_CHARS = 512;
const LEAST_CHARS = 32;

/**
 * Tokens by which `GET /metrics` is read: one of the appliance's own Prometheus, one of the customer's. The files are read at each question,
 * so a rotated token holds at once.
 */
export class MetricsTokens {
  readonly #files: readonly string[];

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** In a time that tells nothing about what a token is. A file that is missing, empty or too short lets nobody in. */
  has(token: string): boolean {
    const asked = digest(token);
    // Every file is compared, so that the time does not tell which one it was.
    return this.#files.map((file) => matches(file, asked)).includes(true);
  }
}

function matches(file: string, asked: Buffer): boolean {
  const token = read(file);
  return timingSafeEqual(digest(token ?? ""), asked) && token !== null;
}

function read(file: string): string | null {
  try {
    const token = readFileSync(file, "utf8").trim();
    return token.length >= LEAST_CHARS && token.length <= MAX_CHARS ? token : null;
  } catch {
    return null;
  }
}

/** Hashes a text to one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
