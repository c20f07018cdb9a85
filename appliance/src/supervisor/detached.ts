/** Starting and stopping the supervisor of a host from a command that ends. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { SYSTEM_PATH } from "../host-tools/tools-environment.ts";
import type { Layout } from "@resontech/frame/layout";
import { asideFile } from "../parts/overlapped-part.ts";
import type { Part } from "../parts/part.ts";
import { askSupervisor, keepNamed, listParts, stopAll } from "./control.ts";
import { isManagedBySystemd, systemctl, unitName } from "./systemd-unit.ts";

const START_LIMIT_MS = 15_000;

/**
 * Starts a supervisor that outlives this command: systemd's unit where there is one, else a process of its own.
 *
 * @param args of the release's Node, which run it in the foreground
 */
export async function startSupervisor(layout: Layout, args: readonly string[]): Promise<void> {
  const socket = layout.supervisorSocket;
  if ((await askSupervisor(socket, listParts, {})) !== null) return;
  if (isManagedBySystemd(layout.instance)) {
    systemctl("start", unitName(layout.instance));
    return;
  }
  mkdirSync(layout.log(""), { recursive: true, mode: 0o750 });
  const log = openSync(layout.log("supervisor.out.log"), "a", 0o640);
  const child = spawn(layout.release("bin", "node"), args, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: "/",
    env: {
      PATH: SYSTEM_PATH,
      LANG: "C.UTF-8",
    },
  });
  closeSync(log);
  child.unref();
  let ended: string | null = null;
  child.once("exit", (code, signal) => {
    ended = signal ?? `exit ${code ?? "?"}`;
  });
  for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += 100) {
    if ((await askSupervisor(socket, listParts, {})) !== null) return;
    if (ended !== null) break;
    await sleep(100);
  }
  throw new Error(
    `the supervisor did not start (${ended ?? "no answer"}); see ${layout.log("supervisor.out.log")}`,
  );
}

/**
 * Asks the supervisor to stop everything and waits until it has. Where none runs, what a killed one left is ended in the same order.
 *
 * @param parts of this host, in the order of their definition
 * @param kept parts that go on, for the next supervisor to take over
 * @returns false when nothing ran
 */
export async function stopSupervisor(
  layout: Layout,
  parts: () => readonly Part[],
  timeoutMs: number,
  kept: readonly string[] = [],
): Promise<boolean> {
  const socket = layout.supervisorSocket;
  if (kept.length > 0) await askSupervisor(socket, keepNamed, { parts: [...kept] });
  const wasRunning = (await askSupervisor(socket, listParts, {})) !== null;
  // Else systemd would take the end for a crash and start it again.
  if (isManagedBySystemd(layout.instance)) systemctl("stop", unitName(layout.instance));
  if ((await askSupervisor(socket, stopAll, {})) === null)
    return (await endLeftovers(layout, without(parts(), kept))) || wasRunning;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 200) {
    if ((await askSupervisor(socket, listParts, {})) === null) return true;
    await sleep(200);
  }
  throw new Error(
    `parts are still stopping after ${timeoutMs / 1000} s; see ${layout.log("supervisor.log")}`,
  );
}

function without(parts: readonly Part[], names: readonly string[]): readonly Part[] {
  return parts.filter(({ name }) => !names.includes(name));
}

/** Under the lock: a supervisor that starts meanwhile must not meet us. Reverse order of definition is reverse order of need. */
async function endLeftovers(layout: Layout, parts: readonly Part[]): Promise<boolean> {
  const left = parts
    .toReversed()
    .filter(({ name }) =>
      [layout.run(`${name}.pid`), asideFile(layout, name)].some((file) => existsSync(file)),
    );
  if (left.length === 0) return false;
  using _lock = takeExclusiveLock(layout.run("supervisor.lock"), "a supervisor", [
    layout.release("engines", "rt-lock"),
  ]);
  for (const part of left) await part.endLeftover();
  return true;
}
