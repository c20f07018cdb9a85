/** Somebody signs in at the host and out again, as the host's own file of sign-ins has it: both stand in the log as observed, without a name. */
import { appendFileSync, existsSync, rmSync, statSync, truncateSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { signIn, signOut } from "@resontech/appliance/testing/utmp-bytes";
import type { ApplianceLog } from "@resontech/house/appliance-log";

const WTMP = "/var/log/wtmp";
const TYPES: readonly string[] = ["auth.host.login", "auth.host.logout"];
const WITHIN_MS = 60_000;
const LOOK_MS = 1_000;
/** Of no process. */
const PID = 4_194_303;
const NAME = "canary-of-the-host";

export type HostSessions = { told: string[]; namesInClear: number };

export async function hostSessionsObserved(
  log: ApplianceLog,
  progress: (line: string) => void,
): Promise<HostSessions> {
  progress("somebody signs in at the host");
  const bytes = Buffer.concat([signIn(PID, { user: NAME }), signOut(PID)]);
  const before = existsSync(WTMP) ? statSync(WTMP).size : null;
  appendFileSync(WTMP, bytes);
  try {
    let told: AuditEvent[] = [];
    for (
      let waitedMs = 0;
      told.length < TYPES.length && waitedMs < WITHIN_MS;
      waitedMs += LOOK_MS
    ) {
      await sleep(LOOK_MS);
      told = (await log.since(0)).filter(
        ({ type, detail }) => TYPES.includes(type) && detail?.["pid"] === PID,
      );
    }
    return {
      told: told.map(({ type, phase }) => `${type} ${phase}`),
      namesInClear: told.filter((event) => JSON.stringify(event).includes(NAME)).length,
    };
  } finally {
    // What came meanwhile is the host's.
    if (before === null) rmSync(WTMP);
    else if (statSync(WTMP).size === before + bytes.length) truncateSync(WTMP, before);
  }
}

export function isObserved({ told, namesInClear }: HostSessions): boolean {
  return told.join() === TYPES.map((type) => `${type} observed`).join() && namesInClear === 0;
}
