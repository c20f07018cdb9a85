/** What the supervisor alone may look at, written for the coordinator's `GET /metrics`. */
import { relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ApplianceFacts, FACTS_EVERY_MS } from "@resontech/contracts/appliance-facts";
import { refusesBelow } from "@resontech/contracts/log-reserve";
import { ask } from "@resontech/frame/ask";
import { socketOf } from "@resontech/frame/define-part";
import type { Logger } from "pino";
import { type BackupFacts, readBackupFacts } from "./backup/read-backup-facts.ts";
import { readCertificates } from "./status/read-certificates.ts";
import { readDisks } from "./status/read-disks.ts";
import { readableBy, writeOwned } from "./config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import { type PartContext, userOfPart } from "./parts/context.ts";
import { healthyForMs } from "./supervisor/decisions/healthy-for.ts";
import type { PartStatus } from "./supervisor/supervisor.ts";

const DAY_MS = 86_400_000;
/** Of one part. */
const ASK_MS = 3_000;

export function factsOf(
  layout: Layout,
  parts: readonly PartStatus[],
  ofParts: Partial<ApplianceFacts>,
  backups: BackupFacts | null,
  now: number,
): ApplianceFacts {
  return {
    ...{ formatVersion: 1, at: now },
    parts: parts.map(({ name, phase, isHeld, restarts }) => ({
      ...{ part: name, isHealthy: phase === "healthy", isHeld, restarts },
    })),
    certificates: readCertificates(layout, now).map(({ file, daysLeft }) => ({
      file: relative(layout.root, file),
      expiresAt: Math.round(now + daysLeft * DAY_MS),
    })),
    disks: readDisks(layout).map(({ holds, path: _path, logReserve, ...room }) => ({
      ...{ holds: holds.join(", "), ...room },
      ...(logReserve === null ? {} : { refusesBelowBytes: refusesBelow(logReserve) }),
    })),
    ...ofParts,
    ...(backups === null
      ? {}
      : {
          backup: {
            ...{ takenAt: backups.takenAtMs, isOverdue: backups.isOverdue },
            behindS: backups.followed?.behindS ?? null,
          },
        }),
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

/** Writes the facts for metrics until `signal`. What can't be written is older at the next look, and an alert tells of that. */
export async function writeFacts(
  { layout, config, parts: declared }: Pick<PartContext, "layout" | "config" | "parts">,
  status: () => readonly PartStatus[],
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const ofParts = await factsOfParts({ layout, parts: declared });
      const [parts, now] = [status(), Date.now()];
      const backups = readBackupFacts(layout, now, healthyForMs(parts, "coordinator"));
      const facts = factsOf(layout, parts, ofParts, backups, now);
      writeOwned(
        layout.factsFile,
        JSON.stringify(facts),
        readableBy(userOfPart({ config, parts: declared }, "coordinator")),
        0o440,
      );
    } catch (err) {
      log.warn({ err }, "the facts for metrics were not written");
    }
    await pause(FACTS_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
