/**
 * That whoever made a call is gone, for whatever step of the call waits now. An AbortSignal would say the same, and make an error with its stack for
 * every call: each response closes in the end.
 */
import type { ServerResponse } from "node:http";

export class HangUp {
  #isGone: boolean;
  #listener: (() => void) | null = null;

  constructor(response: ServerResponse) {
    this.#isGone = response.destroyed;
    response.once("close", () => {
      this.#isGone = true;
      this.#listener?.();
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Told once, unless it happened before; in the place of who was to be told. Null: nobody waits. */
  tell(listener: (() => void) | null): void {
    this.#listener = listener;
  }
}
