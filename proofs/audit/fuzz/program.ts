/** The program as it ships, in a process of its own: what it says, how it ends, and what it took. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type Fault, firstLines, OUT_OF_MEMORY } from "./fault.ts";
import { asFiles, bytesOf, type Input } from "./input.ts";
import { cpuLimitS, KILL_MIB, MAX_PROGRAM_RSS_MIB } from "./limits.ts";
import { boundedNode, usageOf } from "./process-usage.ts";

export type ProgramRun = {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  /** Highest resident set (VmHWM). Null when it could not say so. */
  peakMib: number | null;
  cpuS: number | null;
  /** It was ended because it took so much. */
  tooMuch: Fault | null;
};

/** Tells what the process took when it ends, on a descriptor that the program does not know. */
const HOOK = `import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => { const { user, system } = process.cpuUsage();
writeSync(3, JSON.stringify({ cpuS: (user + system) / 1e6, peakMib: Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024 })); });`;
const LOOK_MS = 200;

/** @param node it is run by */
export async function runProgram(
  program: string,
  input: Input,
  folder: string,
  node: string,
  flags: readonly string[] = ["--json"],
): Promise<ProgramRun> {
  const [file = "", ...options] = asFiles(input, folder);
  const hook = `--import=data:text/javascript,${encodeURIComponent(HOOK)}`;
  const child = spawn(
    ...boundedNode(node, [hook, program, input.isPiped ? "-" : file, ...options, ...flags]),
    {
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    },
  );
  // A program that has seen enough reads no further.
  child.stdin.on("error", () => {});
  child.stdin.end(input.isPiped ? input.file : undefined);
  const texts = [child.stdout, child.stderr, child.stdio[3]!].map(() => [] as Buffer[]);
  for (const [at, stream] of [child.stdout, child.stderr, child.stdio[3]!].entries())
    stream.on("data", (part: Buffer) => texts[at]!.push(part));
  const limitS = cpuLimitS(bytesOf(input));
  let tooMuch: Fault | null = null;
  const timer = setInterval(() => {
    const took = usageOf(child.pid!);
    if (took !== null && took.cpuS > limitS)
      tooMuch = { what: "hang", said: `over ${Math.round(limitS)} s of CPU` };
    if (took !== null && took.rssMib > KILL_MIB)
      tooMuch = { what: "memory", said: `over ${KILL_MIB} MiB` };
    if (tooMuch !== null) child.kill("SIGKILL");
  }, LOOK_MS);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearInterval(timer);
  rmSync(folder, { recursive: true });
  const [stdout = "", stderr = "", took = ""] = texts.map((parts) =>
    Buffer.concat(parts).toString("utf8"),
  );
  const { peakMib = null, cpuS = null } = (took === "" ? {} : JSON.parse(took)) as {
    peakMib?: number;
    cpuS?: number;
  };
  return { code, signal, stdout, stderr, peakMib, cpuS, tooMuch };
}

/** What is wrong with how it ended, whatever it was given. */
export function faultOfRun(
  { code, signal, stderr, peakMib, cpuS, tooMuch }: ProgramRun,
  inputBytes: number,
): Fault | null {
  if (tooMuch !== null) return tooMuch;
  if (cpuS !== null && cpuS > cpuLimitS(inputBytes))
    return { what: "hang", said: `${Math.round(cpuS)} s of CPU` };
  if (OUT_OF_MEMORY.test(stderr)) return { what: "memory", said: firstLines(stderr) };
  if (peakMib !== null && peakMib > MAX_PROGRAM_RSS_MIB)
    return { what: "memory", said: `${Math.round(peakMib)} MiB` };
  if (signal !== null || code === null || code < 0 || code > 65)
    return { what: "crash", said: `${code ?? signal}: ${firstLines(stderr)}` };
  const isOneLine = /^verify: [^\n]*\n$/.test(stderr) && code === 64;
  return stderr === "" || isOneLine ? null : { what: "crash", said: firstLines(stderr) };
}
