import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { splitTrust } from "@resontech/contracts/door-authorities";

export type DoorAuthorities = { pem: string; sha256: string };

const NONE: DoorAuthorities = { pem: "", sha256: hash("sha256", "") };

/** Who vouches for the appliance's doors beside its root. The file is read again when it changes: nodes are to know before the doors do. */
export class DoorTrust {
  readonly #file: string | null;
  #seen = "";
  #told = NONE;

  /** @param file the root first; null: nobody else vouches */
  constructor(file: string | null) {
    this.#file = file;
  }

  now(): DoorAuthorities {
    if (this.#file === null) return NONE;
    const { ino, mtimeMs, size } = statSync(this.#file);
    const seen = `${ino} ${mtimeMs} ${size}`;
    if (seen !== this.#seen) {
      const { doors } = splitTrust(readFileSync(this.#file, "utf8"));
      this.#told = { pem: doors, sha256: hash("sha256", doors) };
      this.#seen = seen;
    }
    return this.#told;
  }
}
