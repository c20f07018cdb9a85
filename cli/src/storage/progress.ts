/** How far a transfer is, on one line of a terminal; nothing where nobody looks. */
import { stderr } from "node:process";
import { printable } from "../printable.ts";

const REDRAW_MS = 200;
const MIB = 1024 ** 2;
const LEAST_NAME = 8;

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
    this.#isShown = stderr.isTTY;
  }

  /** @param bytes negative: of a part that is sent again */
  add(bytes: number): void {
    this.#done += bytes;
    if (!this.#isShown || Date.now() - this.#drawn < REDRAW_MS) return;
    this.#drawn = Date.now();
    const seconds = Math.max(0.001, (Date.now() - this.#began) / 1000);
    const rate = Math.max(0, this.#done - this.#atBegin) / MIB / seconds;
    this.#draw(`${rate.toFixed(1)} MiB/s`);
  }

  /** All is sent, and something else takes its time. */
  waits(words: string): void {
    if (this.#isShown) this.#draw(words);
  }

  /** The line stays for what is said next. */
  end(): void {
    if (!this.#isShown) return;
    const seconds = ((Date.now() - this.#began) / 1000).toFixed(1);
    this.#draw(`${seconds} s`);
    stderr.write("\n");
  }

  #draw(words: string): void {
    const share = this.#total === 0 ? 100 : Math.floor((100 * this.#done) / this.#total);
    stderr.write(`\r${progressLine(this.#what, share, words, stderr.columns)}\u001b[K`);
  }
}

/** One line that the terminal does not break: a name is cut in front, for what tells names apart stands behind. Pure. */
export function progressLine(
  name: string,
  percent: number,
  words: string,
  columns: number,
): string {
  const behind = ` ${String(percent).padStart(3)} %  ${words}`;
  // The last column stays free: some terminals go to the next line once it is filled.
  const room = Math.max(LEAST_NAME, columns - 1 - behind.length);
  const shown = printable(name).replaceAll(/[\t\n]/g, " ");
  return `${shown.length > room ? `…${shown.slice(1 - room)}` : shown}${behind}`;
}
