import type { DeliveryCode } from "./operations.ts";

/** A target did not take a message. Its words hold no secret. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly code: DeliveryCode;

  constructor(code: DeliveryCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const UNTRUSTED = /CERT|SIGNED|ALTNAME|ISSUER|SSL|TLS/;

/** What a connection failed of, in our codes. */
export function connectionError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  if (UNTRUSTED.test(code))
    return new DeliveryError("untrusted", `the server's certificate is not trusted: ${message}`, {
      cause: error,
    });
  return new DeliveryError("unreachable", message === "" ? code : message, { cause: error });
}
