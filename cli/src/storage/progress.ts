/** How far a transfer is, on one line of a terminal; nothing where nobody looks. */
const REDRAW_MS = 200;
const MIB = 1024 ** 2;

export class Progress {
  readonly #what: string;
  readonly #total: number;
  readonly #isShown: boolean;
  readonly #began = Date.now();
  #done: number;
  #atBegin: number;
  #drawn = 0;

  /** @param done bytes of an earlier try */
  constructor(what: string, total: number, done = 0) {
    this.#what = what;
    this.#total = total;
    this.#done = done;
    this.#atBegin = done;
    this.#isShown = process.stderr.isTTY;
  }

  add(bytes: number): void {
    this.#done += bytes;
    if (!this.#isShown || Date.now() - this.#drawn < REDRAW_MS) return;
    this.#drawn = Date.now();
    this.#draw();
  }

  end(): void {
    if (!this.#isShown) return;
    this.#draw();
    process.stderr.write("\n");
  }

  #draw(): void {
    const share = this.#total === 0 ? 100 : Math.floor((100 * this.#done) / this.#total);
    const seconds = Math.max(0.001, (Date.now() - this.#began) / 1000);
    const rate = (this.#done - this.#atBegin) / MIB / seconds;
    const name = this.#what.length > 40 ? `…${this.#what.slice(-39)}` : this.#what;
    process.stderr.write(`\r${name} ${String(share).padStart(3)} %  ${rate.toFixed(1)} MiB/s  `);
  }
}
