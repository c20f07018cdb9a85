/** What a signed-in shell keeps: one file that the person alone reads. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../cli-error.ts";

export type KeptSession = {
  baseUrl: string;
  username: string;
  accessToken: string;
  /** Unix milliseconds. */
  expiresAt: number;
  /** Empty of a service account, which shows its key anew. */
  refreshToken: string;
  /** The file of a service account, by its whole path. */
  serviceAccount?: string;
};

/** Longer than a refresh can take: who held the lock so long was killed. */
const STALE_LOCK_MS = 45_000;
const LOCK_STEP_MS = 50;

/** @throws CliError `home_missing` */
export function sessionFile(env: NodeJS.ProcessEnv): string {
  const config = env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? homeOfUser(), ".config");
  return join(config, "resontech", "session.json");
}

/** Answers the home of the one who runs this, whom the host knows; a container may not. */
function homeOfUser(): string {
  try {
    return homedir();
  } catch {
    throw new CliError(
      "home_missing",
      "this user has no home folder, so there is nowhere to keep a sign-in or an upload",
      "Set HOME, or XDG_CONFIG_HOME, to a folder of your own.",
    );
  }
}

/** Reads who is signed in; null where nobody is, or the file can't be read. @throws CliError `session_unsafe` where others could read the file */
export function readSession(file: string): KeptSession | null {
  let text: string;
  try {
    const { mode, uid } = statSync(file);
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.())
      throw new CliError(
        "session_unsafe",
        `${file} can be read or was written by somebody else`,
        "Remove the file and sign in again: resontech login.",
      );
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    return null;
  }
  try {
    return JSON.parse(text) as KeptSession;
  } catch {
    return null;
  }
}

export function writeSession(file: string, session: KeptSession): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, JSON.stringify(session), { mode: 0o600 });
  renameSync(beside, file);
}

export function removeSession(file: string): void {
  rmSync(file, { force: true });
}

/** One process at a time: two that refresh at once would end the session at Keycloak. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      if (isStale(lock)) rmSync(lock, { recursive: true, force: true });
      else await sleep(LOCK_STEP_MS);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

function isStale(lock: string): boolean {
  try {
    return Date.now() - statSync(lock).mtimeMs > STALE_LOCK_MS;
  } catch {
    return false;
  }
}
