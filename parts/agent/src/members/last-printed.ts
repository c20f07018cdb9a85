import { readSync } from "node:fs";
import type { Area } from "../substrate/area.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";

const MAX_BYTES = 4096;
const MAX_LINES = 40;

/** The last lines that a member printed; null when it printed nothing. */
export async function lastPrinted(area: Area): Promise<string | null> {
  using file = await area.open(JOB_PATHS.output);
  if (file === null || file.sizeBytes === 0) return null;
  const bytes = Buffer.alloc(Math.min(MAX_BYTES, file.sizeBytes));
  const read = readSync(file.fd, bytes, 0, bytes.length, file.sizeBytes - bytes.length);
  const lines = bytes.toString("utf8", 0, read).trimEnd().split("\n");
  // The first may have lost its beginning.
  return (file.sizeBytes > MAX_BYTES && lines.length > 1 ? lines.slice(1) : lines)
    .slice(-MAX_LINES)
    .join("\n");
}
