/** Puts keys back from a copy, while its epoch lives: those that were destroyed on purpose stay destroyed. */
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { type DestroyingAct, mayRestore } from "./decisions/may-restore.ts";
import { readEpochKey } from "./epochs/epoch-file.ts";
import { readBackup, readHead } from "./epochs/key-backup.ts";
import { openParts } from "./open-parts.ts";

/** The epoch of a copy is over: its key is gone, and nothing opens it. */
export class EpochOver extends Error {
  override readonly name = "EpochOver";
  readonly code = "epoch_over";
}

/** @throws EpochOver, BackupFault, UnsealError, ConfigError, AlreadyRunningError while the vault runs */
export async function restoreKeys(
  config: VaultConfig,
  file: string,
): Promise<{ restored: number; kept: number; destroyed: number }> {
  const { epoch } = await readHead(file);
  using parts = await openParts(config);
  const epochKey = await readEpochKey(config.epochsDir, epoch, parts.kek).catch(
    (error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT")
        throw new EpochOver(`the epoch ${epoch} is over, and its key is gone`);
      throw error;
    },
  );
  const acts = (["erasure", "retention"] as const).flatMap((kind) =>
    parts.acts.all(kind).flatMap(({ subject, request, destroyedAt }): DestroyingAct[] => {
      if (destroyedAt === null) return [];
      const { before = null, class: its = null } = request as {
        before?: string;
        class?: "anonymous" | "disclosures";
      };
      return [{ kind, subject, before, class: its, destroyedAt }];
    }),
  );
  const counts = { restored: 0, kept: 0, destroyed: 0 };
  for (const row of await readBackup(file, epochKey)) {
    if (!mayRestore(row, acts)) counts.destroyed += 1;
    else if (parts.keys.restore(row)) counts.restored += 1;
    else counts.kept += 1;
  }
  return counts;
}
