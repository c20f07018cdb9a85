import { setTimeout as sleep } from "node:timers/promises";
import type { PartContext } from "../parts/context.ts";
import { existsSync, readFileSync } from "node:fs";
import { endOfLog } from "./decisions/end-of-log.ts";
import { logOf } from "../status/log-of.ts";
import { askSupervisor, listParts } from "../supervisor/control.ts";

/** So many crashes in a row are no accident: waiting longer helps nobody. */
const GIVE_UP_AFTER_RESTARTS = 5;

/** Parts did not become healthy in time; `message` names them. */
export class NotHealthyError extends Error {
  readonly code = "not_healthy";
}

/** Waits until the named parts (default: all) are healthy; tells each change. @throws NotHealthyError */
export async function waitHealthy(
  context: PartContext,
  timeoutMs: number,
  onChange: (line: string) => void,
  only?: readonly string[],
): Promise<void> {
  const seen = new Map<string, string>();
  const restartsBefore = new Map<string, number>();
  const startedAt = performance.now();
  for (;;) {
    const reply = await askSupervisor(context.layout.supervisorSocket, listParts, {});
    const running = reply !== null;
    const parts = reply?.parts ?? [];
    const wanted = parts.filter((part) => only === undefined || only.includes(part.name));
    for (const part of wanted) {
      if (seen.get(part.name) !== part.phase && part.phase !== "idle")
        onChange(
          `${part.name} ${part.phase}${part.lastExit !== null && part.phase === "exited" ? ` (${part.lastExit})` : ""}`,
        );
      seen.set(part.name, part.phase);
      if (!restartsBefore.has(part.name)) restartsBefore.set(part.name, part.restarts);
    }
    if (running && wanted.length > 0 && wanted.every((part) => part.phase === "healthy")) return;
    const crashing = wanted.find(
      (part) =>
        part.phase !== "healthy" &&
        part.restarts - (restartsBefore.get(part.name) ?? 0) >= GIVE_UP_AFTER_RESTARTS,
    );
    if (crashing !== undefined) {
      const log = context.layout.log(`${crashing.name}.log`);
      const end = existsSync(log)
        ? `the end of ${log}:\n${tailOf(log)}`
        : `look at ${logOf(context, crashing.name)}`;
      throw new NotHealthyError(
        `${crashing.name} keeps ending (${crashing.lastExit ?? ""}); ${end}`,
      );
    }
    if (performance.now() - startedAt > timeoutMs) {
      const missing = wanted
        .filter((part) => part.phase !== "healthy")
        .map((part) => `${part.name} ${part.phase} (log: ${logOf(context, part.name)})`);
      throw new NotHealthyError(
        running
          ? `not healthy after ${timeoutMs / 1000} s: ${missing.join(", ")}`
          : "the supervisor does not run",
      );
    }
    await sleep(250);
  }
}

function tailOf(log: string): string {
  try {
    return endOfLog(readFileSync(log, "utf8"));
  } catch {
    return "  (it can't be read)";
  }
}
