type RefusalCode = "join_token_invalid" | "join_token_used" | "csr_invalid" | "node_invalid";

/** A join that is not granted. The token is not used up. */
export class JoinRefused extends Error {
  override readonly name = "JoinRefused";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
