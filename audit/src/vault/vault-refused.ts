/** What was asked is understood, and not granted. */
export class VaultRefused extends Error {
  override readonly name: string = "VaultRefused";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The database was put back, or is new beside older keys: a hold may be missing. */
export function holdsInDoubt(): VaultRefused {
  return new VaultRefused(
    "holds_in_doubt",
    "the vault's database was put back and may lack legal holds: set those that the log has, then let two people confirm them",
  );
}
