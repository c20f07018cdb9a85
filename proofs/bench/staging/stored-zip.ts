import { closeSync, openSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";

/** Writes a zip of so many stored files, each with the same content, one after the other: below 4 GiB in all. @returns its size in bytes */
export function writeStoredZip(path: string, files: number, content: Buffer): number {
  const fd = openSync(path, "w");
  const directory: Buffer[] = [];
  let offset = 0;
  const put = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    offset += bytes.length;
  };
  try {
    const sum = crc32(content);
    for (let file = 0; file < files; file += 1) {
      const name = Buffer.from(`images/${String(file).padStart(5, "0")}.bin`);
      const common = Buffer.alloc(26);
      common.writeUInt16LE(20, 0);
      common.writeUInt32LE(sum, 10);
      common.writeUInt32LE(content.length, 14);
      common.writeUInt32LE(content.length, 18);
      common.writeUInt16LE(name.length, 22);
      const place = Buffer.alloc(14);
      place.writeUInt32LE(offset, 10);
      directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, place, name);
      for (const bytes of [Buffer.from("PK\x03\x04", "latin1"), common, name, content]) put(bytes);
    }
    const [start, central] = [offset, Buffer.concat(directory)];
    put(central);
    const end = Buffer.alloc(22);
    end.write("PK\x05\x06", "latin1");
    end.writeUInt16LE(files, 8);
    end.writeUInt16LE(files, 10);
    end.writeUInt32LE(central.length, 12);
    end.writeUInt32LE(start, 16);
    put(end);
    return offset;
  } finally {
    closeSync(fd);
  }
}
