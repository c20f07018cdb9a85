/** The hosts that an administrator allows, as the file has them now. What can't be read allows nobody. */
import { readFileSync, statSync } from "node:fs";
import { OutboundHosts, type OutboundHost } from "./outbound-hosts.ts";
import { networks } from "@resontech/frame/networks";
import { reader } from "@resontech/contracts/readable";

const readHosts = reader(OutboundHosts);

export class AllowedHosts {
  readonly #file: string;
  readonly #onError: (error: unknown) => void;
  #seen = "";
  #hosts: readonly OutboundHost[] = [];

  constructor(file: string, onError: (error: unknown) => void) {
    this.#file = file;
    this.#onError = onError;
  }

  /** Null where nobody may dial it. */
  find(host: string, port: number): OutboundHost | null {
    return this.#now().find((one) => one.host === host && one.port === port) ?? null;
  }

  #now(): readonly OutboundHost[] {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    const seen = found === undefined ? "" : `${found.ino} ${found.mtimeNs} ${found.size}`;
    if (seen === this.#seen) return this.#hosts;
    this.#seen = seen;
    this.#hosts = [];
    if (found === undefined) return this.#hosts;
    try {
      const read = readHosts(JSON.parse(readFileSync(this.#file, "utf8")));
      if (read === null) throw new Error(`${this.#file} is no list of hosts`);
      for (const one of read.hosts) networks(one.networks ?? []);
      this.#hosts = read.hosts;
    } catch (error) {
      this.#onError(error);
    }
    return this.#hosts;
  }
}
