/** There is nothing to develop against. */
export class NoApplianceError extends Error {
  readonly code = "no_appliance";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
