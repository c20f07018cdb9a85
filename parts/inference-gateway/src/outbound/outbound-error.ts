/** Why something outside was not dialled, or did not do its part. The message is for whoever made the call: it names no address inside. */
import type { Refusal } from "../refuse.ts";

const STATUS = {
  url_invalid: 400,
  url_not_allowed: 400,
  /** Its server answered, and not with what was asked for. */
  url_failed: 400,
  url_unreachable: 502,
  body_too_large: 413,
} as const;
export type OutboundCode = keyof typeof STATUS;

export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly code: OutboundCode;

  constructor(code: OutboundCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get refusal(): Refusal {
    return { status: STATUS[this.code], type: this.code, message: this.message };
  }
}
