/** A clock that a proof sets, for an auditd of its own: `Date` differs from the true time by what a file says, read again at each SIGWINCH. */
import { writeFileSync } from "node:fs";

const PROGRAM = `import { readFileSync } from "node:fs";
const True = Date;
let aheadMs = 0;
const read = () => { aheadMs = Number(readFileSync(process.env.CLOCK_FILE, "utf8")); };
read();
process.on("SIGWINCH", read);
globalThis.Date = class extends True {
  constructor(...parts) { if (parts.length === 0) super(True.now() + aheadMs); else super(...parts); }
  static now() { return True.now() + aheadMs; }
};`;

export class SetClock {
  readonly #file: string;
  aheadMs = 0;

  constructor(file: string) {
    this.#file = file;
    this.set(0);
  }

  get environment(): NodeJS.ProcessEnv {
    return {
      CLOCK_FILE: this.#file,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PROGRAM)}`,
    };
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  set(aheadMs: number): void {
    this.aheadMs = aheadMs;
    writeFileSync(this.#file, String(aheadMs));
  }
}
