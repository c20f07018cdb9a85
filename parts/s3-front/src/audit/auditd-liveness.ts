/** When auditd was last heard, and the one question that all share who must know. */
import { AuditUnavailable } from "@resontech/audit/producer";
import { admission, ANSWER_MS } from "../decisions/liveness.ts";

/** What is asked: anything that auditd answers at once. Rejects when the connection breaks. */
export type Asked = { readonly connected: boolean; status: () => Promise<unknown> };

type Question = { askedAtMs: number; answer: Promise<void> };

export class AuditdLiveness {
  readonly #auditd: Asked;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  /** Until it is answered or the connection breaks, however long that takes: a process that hangs is not asked again and again. */
  #question: Question | null = null;

  constructor(auditd: Asked) {
    this.#auditd = auditd;
  }

  /** @param sentAtMs of what auditd answered: it was alive then, or later */
  heard(sentAtMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
  }

  /** Resolves at once while auditd was heard of late, else with its answer. @throws AuditUnavailable: without a connection, or without an answer in 2 s */
  async demand(): Promise<void> {
    const nowMs = performance.now();
    const { asks, verdict } = admission({
      isConnected: this.#auditd.connected,
      silentMs: nowMs - this.#heardAtMs,
      unansweredMs: this.#question === null ? null : nowMs - this.#question.askedAtMs,
    });
    if (asks) this.#question = { askedAtMs: nowMs, answer: this.#ask(nowMs) };
    if (verdict === "refuse") throw new AuditUnavailable("timeout", "auditd does not answer");
    if (verdict === "wait") await this.#question!.answer;
  }

  /** @returns rejects when it is overdue, and changes nothing then: the answer is waited for on */
  #ask(askedAtMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new AuditUnavailable("timeout", `no answer in ${ANSWER_MS} ms`)),
      ANSWER_MS,
    );
    // Where nobody waits for it.
    promise.catch(() => {});
    this.#auditd
      .status()
      .then(() => {
        this.heard(askedAtMs);
        resolve();
      })
      .catch(reject)
      .finally(() => {
        clearTimeout(timer);
        this.#question = null;
      });
    return promise;
  }
}
