/** The room that the log of this appliance holds back: settled once, at install, and read by whoever tells of the disk. */
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  LOG_SEGMENT_BYTES,
  RESERVE_STEP_BYTES,
  reserveOf,
  type ReserveState,
} from "@resontech/contracts/log-reserve";
import type { Layout } from "@resontech/frame/layout";
import { ROOT, writeOwned } from "./owned-file.ts";

/** Bytes that auditd shall hold back. Later starts find what the first one settled: with a fuller disk the reserve must not shrink. */
export function settleLogReserve(layout: Layout, keyKind: "live" | "dev"): number {
  const settled = settledBytes(layout);
  if (settled !== null) return settled;
  const { blocks, bavail, bsize } = statfsSync(layout.data("audit"));
  const wantedBytes = reserveOf(keyKind, {
    totalBytes: blocks * bsize,
    // Of an appliance that a release without this file installed: what it holds back was free.
    freeBytes: bavail * bsize + (heldBytes(layout) ?? 0),
  });
  writeOwned(settledFile(layout), `${wantedBytes}\n`, ROOT, 0o444);
  return wantedBytes;
}

/** Null before the first start. Who may not look into the log's folder is told of a whole reserve. */
export function readLogReserve(layout: Layout): ReserveState | null {
  const wantedBytes = settledBytes(layout);
  if (wantedBytes === null) return null;
  return {
    ...{ wantedBytes, heldBytes: heldBytes(layout) ?? wantedBytes },
    segmentBytes: LOG_SEGMENT_BYTES,
  };
}

function settledBytes(layout: Layout): number | null {
  const file = settledFile(layout);
  if (!existsSync(file)) return null;
  const bytes = Number(readFileSync(file, "utf8"));
  return Number.isSafeInteger(bytes) && bytes >= RESERVE_STEP_BYTES ? bytes : null;
}

function settledFile(layout: Layout): string {
  return join(layout.etc, "audit-reserve");
}

/** Null: unreadable to this user. */
function heldBytes(layout: Layout): number | null {
  const folder = layout.data("audit", "ballast");
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".zero"))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    if (error.code === "ENOENT") return 0;
    if (error.code === "EACCES") return null;
    throw error;
  }
}
