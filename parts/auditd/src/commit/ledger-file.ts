/**
 * A short cut for starts: the ledger as of some size of the log, so that only later leaves must be read again.
 * Nothing is lost with it: a file that is missing, damaged or of another log is ignored and every leaf is read.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import type { LedgerSnapshot } from "../decisions/ledger.ts";

const FORMAT = 7;
/** `lastLeafHash` ties it to this very log. */
export type SavedLedger = {
  origin: string;
  size: number;
  lastLeafHash: string;
  ledger: LedgerSnapshot;
};

export async function saveLedger(logDir: string, saved: SavedLedger): Promise<void> {
  await replaceFile(pathIn(logDir), encodeLedger(saved), 0o600);
}

export function encodeLedger(saved: SavedLedger): string {
  const body = JSON.stringify({ format: FORMAT, ...saved });
  return `${sha256(body)}\n${body}\n`;
}

export async function loadLedger(logDir: string): Promise<SavedLedger | null> {
  let text: string;
  try {
    text = await readFile(pathIn(logDir), "utf8");
  } catch {
    return null;
  }
  const end = text.indexOf("\n");
  const body = text.slice(end + 1, -1);
  if (end !== 64 || sha256(body) !== text.slice(0, end)) return null;
  const saved = JSON.parse(body) as SavedLedger & { format: number };
  return saved.format === FORMAT ? saved : null;
}

function pathIn(logDir: string): string {
  return join(logDir, "ledger");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
