/** What the supervisor alone may look at, written for the coordinator: for `GET /metrics`, and for the page of the appliance. */
import { relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type ApplianceFacts,
  FACTS_EVERY_MS,
  type PartLine,
} from "@resontech/contracts/appliance-facts";
import { refusesBelow } from "@resontech/contracts/log-reserve";
import { ask } from "@resontech/frame/ask";
import { socketOf } from "@resontech/frame/define-part";
import type { Finding } from "@resontech/frame/finding";
import type { Logger } from "pino";
import type { BackupFacts } from "../backup/read-backup-facts.ts";
import type { RuncVersion } from "../runc/known-escapes.ts";
import { findingsOf } from "../status/decisions/findings.ts";
import { readCertificates } from "../status/read-certificates.ts";
import { readDisks } from "../status/read-disks.ts";
import { readOwnRunc, readStatusFacts } from "../status/read-status-facts.ts";
import { listPartLogs, readPartLog } from "../support/part-logs.ts";
import { memoryByPart } from "./decisions/memory-by-part.ts";
import { partLines } from "./decisions/part-lines.ts";
import { readProcesses } from "./read-processes.ts";
import { readReleases } from "./read-releases.ts";
import { readableBy, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import { type PartContext, userOfPart } from "../parts/context.ts";
import type { PartStatus } from "../supervisor/supervisor.ts";

const DAY_MS = 86_400_000;
/** Of the end of one part's log. */
const TAIL_BYTES = 16 * 1_024;
const LINES = 5;
const MAX_FINDINGS = 128;
const MAX_TEXT = 2_048;
/** Of one part. */
const ASK_MS = 3_000;

/** What the supervisor looked at. */
export type Looked = {
  parts: readonly PartStatus[];
  /** Null where no backups are scheduled. */
  backups: BackupFacts | null;
  /** Of parts, in bytes. */
  memory: ReadonlyMap<string, number>;
  lines: (part: string) => PartLine[];
  findings: readonly Finding[];
  /** What parts say of themselves. */
  ofParts: Partial<ApplianceFacts>;
};

export function factsOf(layout: Layout, looked: Looked, now: number): ApplianceFacts {
  const { parts, backups, memory, lines, findings, ofParts } = looked;
  return {
    ...{ formatVersion: 1, at: now },
    parts: parts.map(({ name, phase, isHeld, restarts, sinceMs, version, lastExit }) => ({
      ...{ part: name, isHealthy: phase === "healthy", isHeld, restarts, phase },
      since: phase === "idle" ? null : Math.max(0, now - sinceMs),
      version: version.slice(0, 128),
      memoryBytes: memory.get(name) ?? null,
      lastExit: lastExit?.slice(0, 256) ?? null,
      lines: lines(name),
    })),
    certificates: readCertificates(layout, now).map(({ file, daysLeft }) => ({
      file: relative(layout.root, file),
      expiresAt: Math.round(now + daysLeft * DAY_MS),
    })),
    disks: readDisks(layout).map(({ holds, path: _path, logReserve, ...room }) => ({
      ...{ holds: holds.join(", "), ...room },
      ...(logReserve === null ? {} : { refusesBelowBytes: refusesBelow(logReserve) }),
    })),
    releases: readReleases(layout),
    findings: findings.slice(0, MAX_FINDINGS).map(({ what, todo, ...finding }) => ({
      ...{ ...finding, what: what.slice(0, MAX_TEXT), todo: todo.slice(0, MAX_TEXT) },
    })),
    ...ofParts,
    ...(backups === null ? {} : { backup: told(backups) }),
  };
}

function told(backups: BackupFacts): NonNullable<ApplianceFacts["backup"]> {
  const { takenAtMs, nextAtMs, followed, target, everyMinutes, keep, isOverdue, failure } = backups;
  return {
    ...{ takenAt: takenAtMs, nextAt: nextAtMs, target, everyMinutes, keep, isOverdue, failure },
    behindS: followed?.behindS ?? null,
  };
}

/** What declared parts say of themselves; nothing of one that is away. */
async function factsOfParts({
  layout,
  parts,
}: Pick<PartContext, "layout" | "parts">): Promise<Partial<ApplianceFacts>> {
  const said = await Promise.all(
    parts.map(async (part) => {
      if (part.facts === undefined) return {};
      const { socket, operation, request, facts } = part.facts;
      const path = socketOf(part, layout, socket);
      return await ask(path, operation, request, { timeoutMs: ASK_MS }).then(facts, () => ({}));
    }),
  );
  return Object.assign({}, ...said);
}

/** The end of each part's log holds its last lines. */
function linesOf(layout: Layout): Looked["lines"] {
  const logs = new Map(listPartLogs(layout.log("")).map((log) => [log.part, log]));
  return (part) => {
    const log = logs.get(part);
    return log === undefined ? [] : partLines(readPartLog(log, TAIL_BYTES), LINES);
  };
}

/** Writes the facts for the coordinator until `signal`. What can't be written is older at the next look, and an alert tells of that. */
export async function writeFacts(
  context: PartContext,
  status: () => readonly PartStatus[],
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  const { layout, config, parts: declared } = context;
  const reader = "coordinator";
  // A program is run for it, and it changes with the host's packages: once in the life of a supervisor.
  let runc: RuncVersion | null | undefined;
  while (!signal.aborted) {
    try {
      const ofParts = await factsOfParts({ layout, parts: declared });
      const parts = status();
      // An engine that does not answer is not asked again: the supervisor waits for it meanwhile.
      if (runc === undefined) runc = readOwnRunc(context);
      const found = await readStatusFacts(context, { parts, runc, health: null, isRunning: true });
      const facts = factsOf(
        layout,
        {
          ...{ parts, ofParts, backups: found.backups },
          memory: memoryByPart(parts, readProcesses()),
          lines: linesOf(layout),
          // The reader adds what it knows of itself.
          findings: findingsOf(
            found,
            declared.filter(({ name }) => name !== reader),
          ),
        },
        found.of.nowMs,
      );
      writeOwned(
        layout.factsFile,
        JSON.stringify(facts),
        readableBy(userOfPart({ config, parts: declared }, reader)),
        0o440,
      );
    } catch (err) {
      log.warn({ err }, "the facts of the appliance were not written");
    }
    await pause(FACTS_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
