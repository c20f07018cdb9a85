/** Looks for what was erased, in every form that it may have, in every byte of every file below a folder. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export type Kind = "value" | "salt" | "key" | "wrapped key" | "sealed value";
type Form = { kind: Kind; form: string; bytes: Buffer };
export type Remnants = { files: number; bytes: number; found: Partial<Record<Kind, number>>; where: string[] };

const PREFIX_BYTES = 4;

export class Sought {
  readonly #byPrefix = new Map<number, Form[]>();
  forms = 0;

  /** As it is, in hexadecimal digits of both cases, and in base64 at each of the three places where it may begin. */
  add(kind: Kind, bytes: Buffer): void {
    this.#add(kind, "as it is", bytes);
    this.#add(kind, "hex", Buffer.from(bytes.toString("hex")));
    this.#add(kind, "HEX", Buffer.from(bytes.toString("hex").toUpperCase()));
    for (const shift of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
      // Characters that depend on the neighbours are left out.
      this.#add(kind, `base64 at ${shift}`, Buffer.from(text.slice(shift === 0 ? 0 : 4, -4)));
    }
  }

  addText(kind: Kind, text: string): void {
    this.add(kind, Buffer.from(text, "utf8"));
    this.#add(kind, "utf-16", Buffer.from(text, "utf16le"));
  }

  /** One of each form: planted, they must be found. */
  get samples(): Form[] {
    const samples = new Map<string, Form>();
    for (const form of [...this.#byPrefix.values()].flat()) samples.set(`${form.kind} ${form.form}`, form);
    return [...samples.values()];
  }

  in(folder: string): Remnants {
    const remnants: Remnants = { files: 0, bytes: 0, found: {}, where: [] };
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const path = join(folder, name);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
      const content = readFileSync(path);
      remnants.files += 1;
      remnants.bytes += content.length;
      const kinds = this.#kindsIn(content);
      if (kinds.size > 0) remnants.where.push(name);
      for (const kind of kinds) remnants.found[kind] = (remnants.found[kind] ?? 0) + 1;
    }
    return remnants;
  }

  #kindsIn(content: Buffer): Set<Kind> {
    const kinds = new Set<Kind>();
    let window = 0;
    for (let at = 0; at < content.length; at++) {
      window = ((window << 8) | content[at]!) >>> 0;
      const start = at - PREFIX_BYTES + 1;
      if (start < 0) continue;
      for (const { kind, bytes } of this.#byPrefix.get(window) ?? [])
        if (content.subarray(start, start + bytes.length).equals(bytes)) kinds.add(kind);
    }
    return kinds;
  }

  #add(kind: Kind, form: string, bytes: Buffer): void {
    if (bytes.length < 16) throw new RangeError(`${kind} ${form}: chance alone could bring ${bytes.length} bytes`);
    const prefix = bytes.readUInt32BE(0);
    this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), { kind, form, bytes }]);
    this.forms += 1;
  }
}
