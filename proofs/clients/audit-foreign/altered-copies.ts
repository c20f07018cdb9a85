/** Copies of a log's folder in each of which one thing is not as it was. The copy shares every file but the altered one with its original. */
import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export type Alteration = {
  what: string;
  /** Changes a folder of its own. */
  apply: (dir: string) => void;
};

/** Files of the folder that others may read, as hard links: {@link rewrite} breaks the one that it changes. */
export function linkedCopy(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  linkSync(join(from, "checkpoint"), join(to, "checkpoint"));
  for (const { parentPath, name } of readdirSync(join(from, "tile"), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile())) {
    const path = join(parentPath.slice(from.length), name);
    mkdirSync(dirname(join(to, path)), { recursive: true });
    linkSync(join(parentPath, name), join(to, path));
  }
}

/** Of a log of more than 65,536 and less than 131,072 entries, neither a multiple of 256. `size` is its newest checkpoint's. */
export function alterations(size: number, older: { dir: string }): Alteration[] {
  const partial = size % 256;
  const last = Math.floor(size / 256);
  const level1Partial = last % 256;
  const bytes = (what: string, path: string, change: (content: Buffer) => Buffer): Alteration => ({
    what,
    apply: (dir) => rewrite(dir, path, change),
  });
  const note = (what: string, change: (text: string) => string): Alteration =>
    bytes(what, "checkpoint", (content) => {
      const changed = change(content.toString("utf8"));
      if (changed === content.toString("utf8")) throw new Error(`${what}: nothing was changed`);
      return Buffer.from(changed, "utf8");
    });
  return [
    bytes("one bit of an entry in the first bundle", entries(0), flipAt(0.5)),
    bytes("one bit of an entry in the middle", entries(100), flipAt(0.3)),
    bytes(
      "one bit of an entry in the partial bundle",
      `${entries(last)}.p/${partial}`,
      flipAt(0.9),
    ),
    bytes("a length in a bundle", entries(7), flipAt(0)),
    bytes("two entries in each other's place", entries(3), swapFirstEntries),
    bytes("an entry more in the partial bundle", `${entries(last)}.p/${partial}`, (content) =>
      Buffer.concat([content, content.subarray(0, 2 + content.readUInt16BE(0))]),
    ),
    bytes("a bundle that ends early", entries(50), (content) =>
      content.subarray(0, content.length - 1),
    ),
    { what: "a bundle that is gone", apply: (dir) => rmSync(join(dir, entries(51))) },
    {
      what: "two bundles in each other's place",
      apply: (dir) => swapFiles(dir, entries(10), entries(11)),
    },
    bytes("one bit of a full tile of level 0", tile(0, 20), flipAt(0.4)),
    bytes("one bit of the partial tile of level 0", `${tile(0, last)}.p/${partial}`, flipAt(0.1)),
    bytes("one bit of the full tile of level 1", tile(1, 0), flipAt(0.7)),
    bytes(
      "one bit of the partial tile of level 1",
      `${tile(1, 1)}.p/${level1Partial}`,
      flipAt(0.2),
    ),
    bytes("one bit of the partial tile of level 2", `${tile(2, 0)}.p/1`, flipAt(0.5)),
    { what: "a tile that is gone", apply: (dir) => rmSync(join(dir, tile(0, 30))) },
    note("another size", (text) => text.replace(`\n${size}\n`, `\n${size - 1}\n`)),
    note("another root", (text) =>
      text.replace(/\n([A-Za-z0-9+/]{43}=)\n/, (_, root: string) => `\n${flipped(root)}\n`),
    ),
    note("another origin", (text) => text.replace(".audit.", ".audlt.")),
    note("a fourth line", (text) => text.replace("\n\n", "\nextension\n\n")),
    note("no Ed25519 signature", (text) => withoutLine(text, 0)),
    note("no ML-DSA-44 signature", (text) => withoutLine(text, 1)),
    note("one bit of the Ed25519 signature", (text) => changedLine(text, 0, 40)),
    note("one bit of the ML-DSA-44 signature", (text) => changedLine(text, 1, 2_000)),
    note("another time in the ML-DSA-44 signature", (text) => changedLine(text, 1, 11)),
    {
      what: "yesterday's checkpoint, whole and signed",
      apply: (dir) => rewrite(dir, "checkpoint", () => readFileSync(join(older.dir, "checkpoint"))),
    },
  ];
}

/** Replaces the file, so that its other names keep their content. */
function rewrite(dir: string, path: string, change: (content: Buffer) => Buffer): void {
  const file = join(dir, path);
  const content = readFileSync(file);
  rmSync(file);
  writeFileSync(file, change(Buffer.from(content)));
}

function swapFiles(dir: string, one: string, other: string): void {
  const kept = readFileSync(join(dir, one));
  rewrite(dir, one, () => readFileSync(join(dir, other)));
  rewrite(dir, other, () => kept);
}

const flipAt =
  (part: number) =>
  (content: Buffer): Buffer => {
    content[Math.min(content.length - 1, Math.floor(content.length * part))]! ^= 1;
    return content;
  };

function swapFirstEntries(content: Buffer): Buffer {
  const first = 2 + content.readUInt16BE(0);
  const second = 2 + content.readUInt16BE(first);
  return Buffer.concat([
    content.subarray(first, first + second),
    content.subarray(0, first),
    content.subarray(first + second),
  ]);
}

const path = (index: number): string =>
  index < 1_000
    ? String(index).padStart(3, "0")
    : `x${String(Math.floor(index / 1_000)).padStart(3, "0")}/${String(index % 1_000).padStart(3, "0")}`;
const entries = (index: number): string => `tile/entries/${path(index)}`;
const tile = (level: number, index: number): string => `tile/${level}/${path(index)}`;

function flipped(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  bytes[0]! ^= 1;
  return bytes.toString("base64");
}

function withoutLine(text: string, at: number): string {
  const [body = "", lines = ""] = text.split("\n\n");
  return `${body}\n\n${lines
    .split("\n")
    .filter((_, index) => index !== at)
    .join("\n")}`;
}

/** Flips a bit of the byte at `offset`; the first four are the key's id. */
function changedLine(text: string, at: number, offset: number): string {
  const [body = "", lines = ""] = text.split("\n\n");
  const changed = lines.split("\n").map((line, index) => {
    if (index !== at) return line;
    const [dash, name, signature = ""] = line.split(" ");
    const bytes = Buffer.from(signature, "base64");
    bytes[offset]! ^= 1;
    return `${dash} ${name} ${bytes.toString("base64")}`;
  });
  return `${body}\n\n${changed.join("\n")}`;
}

/** A folder with everything that a process needs to go on with it. */
export function wholeCopy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
}
