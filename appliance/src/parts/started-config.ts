/** With which configuration a part was started, as a digest beside its pid file: it outlives a killed supervisor, and goes with the host's next start. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Layout } from "@resontech/frame/layout";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { isAlive, readPidFile } from "./process-identity.ts";

/** Hashes one text or several, in this order (SHA-256, hex). */
export function configDigest(texts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(createHash("sha256").update(text).digest());
  return hash.digest("hex");
}

/** Notes what the files hold before the part reads them: what is written meanwhile is newer than what is noted, and restarts it once more. */
export function noteStartedConfig(layout: Layout, part: string, files: readonly string[]): void {
  if (files.every((file) => existsSync(file)) && files.length > 0)
    writeOwned(
      noteFile(layout, part),
      configDigest(files.map((file) => readFileSync(file))),
      ROOT,
      0o600,
    );
  else rmSync(noteFile(layout, part), { force: true });
}

/** Reads the digest that the part started with; null where it does not run, or where nothing is known of its start. */
export function startedConfig(layout: Layout, part: string): string | null {
  const identity = readPidFile(layout.run(`${part}.pid`));
  if (identity === null || !isAlive(identity) || !existsSync(noteFile(layout, part))) return null;
  return readFileSync(noteFile(layout, part), "utf8");
}

function noteFile(layout: Layout, part: string): string {
  return layout.run(`${part}.config`);
}
