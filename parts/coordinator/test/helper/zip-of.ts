import { crc32, deflateRawSync } from "node:zlib";

export type ZipEntryOptions = {
  /** Bits of the general purpose flag. */
  flags?: number;
  method?: number;
  /** Unix mode, in the upper half of the external attributes. */
  mode?: number;
  /** Declared instead of the true size. */
  declaredBytes?: number;
};

/** A zip archive with one entry for each name, made by hand so that a test can make it wrong. */
export function zipOf(
  files: Record<string, string | Uint8Array>,
  options: ZipEntryOptions = {},
): Buffer {
  const { flags = 0x800, method = 8, mode = 0o100644, declaredBytes } = options;
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const raw = Buffer.from(content);
    const packed = deflateRawSync(raw);
    const path = Buffer.from(name, "utf8");
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(raw), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(declaredBytes ?? raw.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), shared, path, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03", "latin1"), shared, tail, path]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
