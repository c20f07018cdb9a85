import type { ExportedEvent } from "../formats/exported-event.ts";

/** One connection to a receiver, or one open file. After anything of it has failed it is disposed of, and another one opened. */
export interface Receiver extends AsyncDisposable {
  /** Hands entries over, in order; resolves once there is room for more. */
  send(events: readonly ExportedEvent[], signal: AbortSignal): Promise<void>;
  /** Resolves once the receiver has everything that was sent for good; it says so, or fails, within seconds. Nothing is sent after it. */
  confirm(): Promise<void>;
}

export type OpenReceiver = (signal: AbortSignal) => Promise<Receiver>;

/** The receiver did not take what it was sent. `code` says in a word why. */
export class ReceiverError extends Error {
  override readonly name = "ReceiverError";
  readonly code: "unreachable" | "unconfirmed" | "closed" | "untrusted" | "unwritable";

  constructor(code: ReceiverError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
