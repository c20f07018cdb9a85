/** What of the recovery key stays on the appliance: its public half, and the key that signs manifests. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BackupKeys, makeRecoveryKey } from "@resontech/backup/recovery-key";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";

/** Reports that there is no recovery key yet, or that there is one already. */
class BackupKeyError extends Error {
  override readonly name = "BackupKeyError";
  readonly code: "backup_key_none" | "backup_key_exists";
  readonly hint: string;

  constructor(code: BackupKeyError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** @throws BackupKeyError `backup_key_none` */
export function readBackupKeys(layout: Layout): { keys: BackupKeys; signingKeyPem: string } {
  if (!existsSync(keysFile(layout)))
    throw new BackupKeyError(
      "backup_key_none",
      "there is no recovery key yet",
      "Make one and keep it on paper: appliance backup key",
    );
  const keys = JSON.parse(readFileSync(keysFile(layout), "utf8")) as BackupKeys;
  return { keys, signingKeyPem: readFileSync(signingKeyFile(layout), "utf8") };
}

/** @throws BackupKeyError `backup_key_exists` */
export function requireNoBackupKeys(layout: Layout): void {
  if (existsSync(keysFile(layout)))
    throw new BackupKeyError(
      "backup_key_exists",
      "there is a recovery key already",
      "Use the sheet that was printed. Where it is lost: appliance backup key --replace, and another target",
    );
}

/**
 * Makes a recovery key and keeps what must stay. Backups of one that was there stay what they are.
 * @returns the sheet, which is shown once
 */
export function makeBackupKeys(layout: Layout, appliance: string): string {
  const { keys, signingKeyPem, sheet } = makeRecoveryKey(appliance);
  writeOwned(signingKeyFile(layout), signingKeyPem, ROOT, 0o400);
  // Last: where it stands, both stand.
  writeOwned(keysFile(layout), `${JSON.stringify(keys, null, 2)}\n`, ROOT, 0o444);
  return sheet;
}

function keysFile({ etc }: Layout): string {
  return join(etc, "backup.json");
}

function signingKeyFile(layout: Layout): string {
  return layout.secrets("appliance", "backup-signing.key");
}
