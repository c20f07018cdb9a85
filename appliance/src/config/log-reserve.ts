/** The room that the log of this appliance holds back: settled once, at install, and read by whoever tells of the disk. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RESERVE_FILE, reserveIn } from "@resontech/auditd/part";
import { LOG_SEGMENT_BYTES, type ReserveState } from "@resontech/contracts/log-reserve";
import type { Layout } from "@resontech/frame/layout";

/** Reads what the log holds back; null before the first start. Who may not look into the log's folder is told of a whole reserve. */
export function readLogReserve(layout: Layout): ReserveState | null {
  const wantedBytes = settledBytes(layout);
  if (wantedBytes === null) return null;
  return {
    ...{ wantedBytes, heldBytes: heldBytes(layout) ?? wantedBytes },
    segmentBytes: LOG_SEGMENT_BYTES,
  };
}

function settledBytes(layout: Layout): number | null {
  const file = layout.setting(RESERVE_FILE);
  return reserveIn(existsSync(file) ? readFileSync(file, "utf8") : null);
}

/** Adds up what the reserve holds; null where this user can't read it. */
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
