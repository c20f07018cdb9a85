import { readFileSync, writeFileSync } from "node:fs";

const FILE = "/etc/hosts";

/** A name that this machine, and every namespace on it, resolves to an address for as long as it is kept. */
export class HostsEntry implements Disposable {
  readonly #name: string;

  /** Replaces what a run that was broken off has left under this name. */
  constructor(name: string, address: string) {
    this.#name = name;
    this[Symbol.dispose]();
    writeFileSync(FILE, `${readFileSync(FILE, "utf8").trimEnd()}\n${address} ${name}\n`);
  }

  [Symbol.dispose](): void {
    const lines = readFileSync(FILE, "utf8").split("\n");
    writeFileSync(FILE, lines.filter((line) => !line.endsWith(` ${this.#name}`)).join("\n"));
  }
}
