/** `resontech audit show`: one entry, and its proof for the offline verifier. */
import { writeFileSync } from "node:fs";
import type { AuditEventReply } from "@resontech/contracts/http-audit";
import { getJson } from "../api-client.ts";
import { CliError, UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const ENTRY = /^(?:([0-9]{4}(?:-[1-9][0-9]{0,3})?)\/)?(0|[1-9][0-9]{0,15})$/;

/**
 * @param entry as the search shows it, `2026/17`, or a number alone: then of the newest shard
 * @throws CliError
 */
export async function showEntry(
  settings: Settings,
  entry: string,
  proofFile?: string,
): Promise<AuditEventReply> {
  const [, shard, index] = ENTRY.exec(entry) ?? [];
  if (index === undefined)
    throw new UsageError(
      "entry_invalid",
      `${entry} names no entry`,
      "Write it as the search does: 2026/17, or 17.",
    );
  const found = await getJson(settings, "/api/audit/events/{index}", {
    params: { index },
    query: { shard },
  });
  if (proofFile !== undefined) writeProof(proofFile, found.proof);
  return found;
}

/** @throws CliError file_exists: what is there is never replaced */
function writeProof(file: string, proof: string): void {
  try {
    writeFileSync(file, proof, { mode: 0o640, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new CliError(
      "file_exists",
      `${file} is there already and is not replaced`,
      "Name another file, or move that one away first.",
    );
  }
}
