import type { Logger } from "pino";

const EVERY_MS = 60_000;

/** Says that a peer was refused: the first time, then once a minute with how many there were. */
export class Refusals {
  readonly #log: Logger;
  readonly #fields: object;
  #saidAtMs: number | null = null;
  #count = 0;

  constructor(log: Logger, fields: object) {
    this.#log = log;
    this.#fields = fields;
  }

  note(why: string, peer: object): void {
    this.#count += 1;
    const now = performance.now();
    if (this.#saidAtMs !== null && now - this.#saidAtMs < EVERY_MS) return;
    this.#saidAtMs = now;
    this.#log.warn(
      { ...this.#fields, ...peer, why, refused: this.#count },
      "refused at a job's bridge",
    );
  }
}
