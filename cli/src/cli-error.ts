/** What keeps a command from being done, with a code that never changes its meaning and what to do about it. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** What was typed can't be meant, however the appliance is. */
export class UsageError extends CliError {
  override readonly name = "UsageError";
}
