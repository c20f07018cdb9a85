/** Looks for what was erased, in every form that it may have, in every byte of every file below a folder. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";

export type Kind = "value" | "salt" | "key" | "wrapped key" | "sealed value" | "token";
type Form = { kind: Kind; form: string; bytes: Buffer };
export type Remnants = {
  files: number;
  bytes: number;
  found: Partial<Record<Kind, number>>;
  where: string[];
};

const PREFIX_BYTES = 4;
const AT_ONCE_BYTES = 1_048_576;
const PART_CHARACTERS = 64;
const PARTS = new RegExp(`.{${PART_CHARACTERS}}`, "gs");

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

  /** By its parts where it is long: a database lays such a text on several pages. */
  addText(kind: Kind, text: string): void {
    const parts = text.length < 2 * PART_CHARACTERS ? [text] : (text.match(PARTS) ?? []);
    for (const part of parts) {
      this.add(kind, Buffer.from(part, "utf8"));
      this.#add(kind, "utf-16", Buffer.from(part, "utf16le"));
    }
  }

  /** One of each form: planted, they must be found. */
  get samples(): Form[] {
    const samples = new Map<string, Form>();
    for (const form of [...this.#byPrefix.values()].flat())
      samples.set(`${form.kind} ${form.form}`, form);
    return [...samples.values()];
  }

  /** Others are heard meanwhile. */
  async in(folder: string): Promise<Remnants> {
    const remnants: Remnants = { files: 0, bytes: 0, found: {}, where: [] };
    for (const name of filesBelow(folder)) {
      const content = contentOf(join(folder, name));
      if (content === null) continue;
      remnants.files += 1;
      remnants.bytes += content.length;
      const kinds = new Set<Kind>();
      for (let from = 0; from < content.length; from += AT_ONCE_BYTES) {
        this.#addKindsIn(content, from, kinds);
        await breath();
      }
      if (kinds.size > 0) remnants.where.push(name);
      for (const kind of kinds) remnants.found[kind] = (remnants.found[kind] ?? 0) + 1;
    }
    return remnants;
  }

  /** Of forms that begin from there on, up to so many bytes. */
  #addKindsIn(content: Buffer, from: number, kinds: Set<Kind>): void {
    const end = Math.min(content.length, from + AT_ONCE_BYTES + PREFIX_BYTES - 1);
    let window = 0;
    for (let at = from; at < end; at++) {
      window = ((window << 8) | content[at]!) >>> 0;
      const start = at - PREFIX_BYTES + 1;
      if (start < from) continue;
      for (const { kind, bytes } of this.#byPrefix.get(window) ?? [])
        if (content.subarray(start, start + bytes.length).equals(bytes)) kinds.add(kind);
    }
  }

  #add(kind: Kind, form: string, bytes: Buffer): void {
    if (bytes.length < 16)
      throw new RangeError(`${kind} ${form}: chance alone could bring ${bytes.length} bytes`);
    const prefix = bytes.readUInt32BE(0);
    this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), { kind, form, bytes }]);
    this.forms += 1;
  }
}

/** Names of the files below a folder; a socket is none. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** Null for one that went meanwhile. */
function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
