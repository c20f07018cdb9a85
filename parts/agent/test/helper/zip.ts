import { crc32, deflateRawSync } from "node:zlib";

export type ZipMember = {
  name: string;
  body?: string | Uint8Array;
  /** Unix mode with file type, in the upper half of the external attributes. @default 0o100644 */
  mode?: number;
  /** General purpose flags. @default 0x0800 (UTF-8 names) */
  flags?: number;
  /** What the headers claim, when they lie. */
  claimedSize?: number;
  /** As a packer that does not compress would have it. */
  isStored?: boolean;
};

/**
 * A zip byte by byte, as honest writers would never make some. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 *
 * @param options isStreamed: sizes and sum stand behind the content, as a packer writes them that can't go back
 */
export function zipOf(members: readonly ZipMember[], { isStreamed = false } = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const {
    name,
    body = "",
    mode = 0o100644,
    flags = 0x0800,
    claimedSize,
    isStored = false,
  } of members) {
    const bytes = Buffer.from(body);
    const packed = isStored ? bytes : deflateRawSync(bytes);
    const size = claimedSize ?? bytes.length;
    const path = Buffer.from(name, "utf8");
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(isStored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.from(common);
    const behind = Buffer.alloc(isStreamed ? 16 : 0);
    if (isStreamed) {
      for (const head of [common, local]) head.writeUInt16LE(flags | 8, 2);
      behind.write("PK\x07\x08", "latin1");
      common.copy(behind, 4, 10, 22);
      local.fill(0, 10, 22);
    }
    files.push(Buffer.from("PK\x03\x04", "latin1"), local, path, packed, behind);
    const central = Buffer.alloc(16);
    central.writeUInt32LE(((mode & 0xffff) << 16) >>> 0, 8);
    central.writeUInt32LE(offset, 12);
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, central.subarray(2), path);
    offset += 4 + common.length + path.length + packed.length + behind.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, central, end]);
}
