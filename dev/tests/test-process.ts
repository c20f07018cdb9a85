/** One process of tests: a file of its own, or several files of a room. */
import { spawn } from "node:child_process";

export type ProcessEnd = {
  /** TAP as it came. */
  tap: string;
  /** The end of what it said beside TAP. */
  said: string;
  /** How it ended; null: as it should. */
  fault: string | null;
};

export type TestProcessOptions = {
  cwd: string;
  env: NodeJS.ProcessEnv;
  onStart: (pid: number) => void;
  /** When a file begins in a process of several; the file waits for it. */
  onFile?: (file: string) => Promise<void>;
  /** Files of the process; default: one. */
  files?: number;
  /** Seconds that a file may take, by tap's own limit. */
  limitS?: number;
};

/** After this tap says what was open. */
const LIMIT_S = 600;
/** This ends a file that does not end even then. */
const LIMIT_MS = 15 * 60_000;
const GRACE_MS = 5_000;
const KEPT_CHARACTERS = 16_384;

/** @param args of node */
export async function runTestProcess(
  args: readonly string[],
  { cwd, env, onStart, onFile, files = 1, limitS = LIMIT_S }: TestProcessOptions,
): Promise<ProcessEnd> {
  const limitMs = LIMIT_MS * files;
  const child = spawn(process.execPath, args, {
    cwd,
    // tap's own limit of a file is 30 s otherwise.
    env: { ...env, TAP: "1", TAP_TIMEOUT: String(limitS) },
    stdio: ["ignore", "pipe", "pipe", onFile === undefined ? "ignore" : "ipc"],
  });
  if (child.pid !== undefined) onStart(child.pid);
  let [tap, said] = ["", ""];
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (tap += text));
  child
    .stderr!.setEncoding("utf8")
    .on("data", (text: string) => (said = (said + text).slice(-KEPT_CHARACTERS)));
  const begin = async (file: string): Promise<void> => {
    await onFile?.(file);
    // It may have ended meanwhile, which its own end tells.
    if (child.connected) child.send("begin", () => {});
  };
  // tap has messages of its own.
  child.on("message", (file) => typeof file === "string" && void begin(file));
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
  }, limitMs);
  // What it left running may hold its output open: its own end counts.
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>(
    (resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (...ended) => {
        setTimeout(() => resolve(ended), GRACE_MS).unref();
        child.once("close", () => resolve(ended));
      });
    },
  ).finally(() => clearTimeout(limit));
  const fault = isLate
    ? `did not end within ${limitMs / 60_000} minutes`
    : signal !== null
      ? `was ended by ${signal}`
      : code === 0
        ? null
        : `ended with ${code}`;
  return { tap, said, fault };
}
