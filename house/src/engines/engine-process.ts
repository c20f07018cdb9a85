import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Starts a program and waits until `isReady` says so. */
export async function startEngine(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  isReady: () => Promise<boolean>,
): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], ...options });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-4000);
  });
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) break;
    if (await isReady().catch(() => false)) return child;
    await sleep(50);
  }
  child.kill("SIGKILL");
  throw new Error(`${program} did not come up: ${errors}`);
}

export async function stopEngine(
  child: ChildProcess,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
