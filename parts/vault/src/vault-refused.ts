/** What was asked is understood, and not granted. */
export class VaultRefused extends Error {
  override readonly name: string = "VaultRefused";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
