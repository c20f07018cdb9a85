/** What ends a backup, or the opening of one; `hint` says what a person does next. */
export type BackupErrorCode =
  /** A part or an object is not what was written. */
  | "backup_damaged"
  /** Another recovery key opens it. */
  | "backup_key_wrong"
  /** The recovery key, or the word that names who signs, was copied wrongly. */
  | "backup_key_invalid"
  /** This appliance did not sign it. */
  | "backup_forged"
  /** It is whole, and another key than the sheet's signed it. */
  | "backup_signer_other"
  /** Written by a program of another format. */
  | "backup_format"
  /** There is none, or none of that name. */
  | "backup_missing"
  /** The target can't be read or written. */
  | "backup_target"
  /** The target belongs to another appliance. */
  | "backup_target_taken"
  /** An uninstall of the appliance would take the target along. */
  | "backup_target_inside"
  /** What is to be copied changes faster than it can be read. */
  | "backup_source_changes"
  /** What is to be copied can't be kept as it is. */
  | "backup_source"
  /** What followed a backup is not what was written, or a part of it is missing. */
  | "followed_damaged";

const HINTS: Readonly<Record<BackupErrorCode, string>> = {
  backup_damaged: "Take another backup of the same target: `appliance backup list TARGET`.",
  backup_key_wrong: "Take the sheet that was printed before this backup was taken.",
  backup_key_invalid: "Compare each letter with the sheet.",
  backup_forged:
    "Trust nothing on this target. Compare the line that begins with `rtbackup1` with the sheet.",
  backup_signer_other:
    "Take the sheet that was printed before this backup was taken. Where this is that sheet, somebody put the backup there: trust nothing on this target.",
  backup_format: "Install the release that wrote it.",
  backup_missing: "`appliance backup list TARGET` shows what is there.",
  backup_target: "Look at the folder, or at the address, the bucket and its credentials.",
  backup_target_taken: "Name a folder or a prefix of its own for each appliance.",
  backup_target_inside: "Name a folder on another disk, better on another host, or a bucket.",
  backup_source_changes: "Take the backup again.",
  backup_source: "Look at the file that is named.",
  followed_damaged:
    "Go no further than the time that is named: --up-to TIME. For the backup alone: --up-to with the time when it was taken.",
};

export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly code: BackupErrorCode;
  readonly hint: string;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = HINTS[code];
  }
}
