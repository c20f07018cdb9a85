/** What stops a command of the witness; the message says what to do. */
export class WitnessError extends Error {
  override readonly name = "WitnessError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
