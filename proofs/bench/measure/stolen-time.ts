import { readFileSync } from "node:fs";

/** Fields of the first line of /proc/stat, in ticks of all processors (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal. */
const FIELDS = 8;

/** How much of a virtual machine's processor time its host gives to others while something is measured. */
export class StolenTime {
  #from = ticks();

  /** Since it was made: 0 on a machine that has its processors for itself. */
  share(): number {
    const to = ticks();
    const all = to.all - this.#from.all;
    return all === 0 ? 0 : (to.stolen - this.#from.stolen) / all;
  }
}

function ticks(): { all: number; stolen: number } {
  const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const fields = first
    .trim()
    .split(/ +/)
    .slice(1, 1 + FIELDS)
    .map(Number);
  return { all: fields.reduce((sum, each) => sum + each, 0), stolen: fields.at(-1) ?? 0 };
}
