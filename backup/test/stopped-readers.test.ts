/** Whoever reads no further, or meets what is damaged, leaves no source behind: an open file that is merely forgotten ends the process later. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import t from "tap";
import { unzipped } from "../src/open/unzipped.ts";
import { gzipped } from "../src/take/gzipped.ts";

const MIB = 1024 ** 2;

/** Reads the first piece of what `through` makes of the bytes. @returns whether the source was let go of */
async function isLetGo(
  bytes: Uint8Array,
  through: (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): Promise<boolean> {
  const told = { isClosed: false };
  const source = async function* () {
    try {
      for (let at = 0; at < bytes.length; at += 777) yield bytes.subarray(at, at + 777);
    } finally {
      told.isClosed = true;
    }
  };
  try {
    for await (const _ of through(source())) break;
  } catch {
    // What is damaged is judged elsewhere.
  }
  for (let turns = 0; turns < 100 && !told.isClosed; turns += 1) await new Promise(setImmediate);
  return told.isClosed;
}

t.test("what is packed and unpacked lets go of its source", async (t) => {
  const bytes = randomBytes(4 * MIB);
  t.ok(await isLetGo(bytes, gzipped), "packed in part");
  t.ok(await isLetGo(gzipSync(bytes), (source) => unzipped(source, "x")), "unpacked in part");
  t.ok(await isLetGo(bytes, (source) => unzipped(source, "x")), "what is no archive");
});
