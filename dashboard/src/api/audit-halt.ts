/** Known from the first answer that says so: the audit log takes no record, so the appliance refuses whatever would have to be recorded. */
import type { ReadyReply } from "@resontech/contracts/http-identity";

const ASKED_EVERY_MS = 3_000;

class AuditHalt {
  #isHalted = false;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isHalted = (): boolean => this.#isHalted;

  /** Until the appliance says that the log takes records again. */
  begin(): void {
    if (this.#isHalted) return;
    this.#set(true);
    const timer = setInterval(() => {
      void isRecording().then((isOver) => {
        if (!isOver) return;
        clearInterval(timer);
        this.#set(false);
      });
    }, ASKED_EVERY_MS);
  }

  #set(isHalted: boolean): void {
    this.#isHalted = isHalted;
    for (const listener of this.#listeners) listener();
  }
}

/** Anybody may ask which parts are ready, and no answer says no. */
async function isRecording(): Promise<boolean> {
  try {
    const { parts } = (await (await fetch("/readyz")).json()) as ReadyReply;
    return parts["audit"] === "ok";
  } catch {
    return false;
  }
}

export const auditHalt = new AuditHalt();
