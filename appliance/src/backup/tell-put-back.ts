/** Says in the audit log that a backup was put back. The log itself was put back with it, so only the log that goes on afterwards can have that. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { ensureFolder, ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";

const AGAIN_MS = 1_000;

/** Notes which backup is put back, for the next supervisor to tell. @param backup its id */
export function notePutBack(layout: Layout, backup: string): void {
  ensureFolder(layout.data("backup"), ROOT, 0o700);
  writeOwned(noteFile(layout), backup, ROOT, 0o600);
}

/**
 * Until it is durable in the log, which may wait for two people, or until `signal`.
 * @param say resolves once it is durable
 */
export async function tellPutBack(
  layout: Layout,
  say: (backup: string) => Promise<void>,
  { log, signal, againMs = AGAIN_MS }: { log: Logger; signal: AbortSignal; againMs?: number },
): Promise<void> {
  while (!signal.aborted && existsSync(noteFile(layout))) {
    try {
      await say(readFileSync(noteFile(layout), "utf8"));
      rmSync(noteFile(layout), { force: true });
    } catch (err) {
      log.debug({ err }, "the audit log does not take yet that a backup was put back");
      await pause(againMs, undefined, { signal }).catch(() => {});
    }
  }
}

function noteFile(layout: Layout): string {
  return layout.data("backup", "put-back");
}
