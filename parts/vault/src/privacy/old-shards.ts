/** Leaves have a retention of their own, by shard. auditd alone deletes there; the vault alone knows of legal holds. */
import type { VaultParts } from "../parts.ts";

/** Any hold keeps every shard: which persons a shard is about, nobody can tell for sure. @throws AuditUnavailable */
export function askForOldShards(
  { acts, config, record, turns }: VaultParts,
  nowMs: number,
): Promise<void> {
  // In turn with holds: one that is set later finds shards that are as good as gone, or none.
  return turns.run(async () => {
    if (acts.holdCount > 0) return;
    const before = new Date(nowMs);
    before.setUTCFullYear(before.getUTCFullYear() - config.retention.leavesYears);
    await record.connection.deleteShards(before.toISOString());
  });
}
