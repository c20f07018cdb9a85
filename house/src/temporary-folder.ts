import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";

/** Short paths: a socket's path may have 107 bytes. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "rta-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
