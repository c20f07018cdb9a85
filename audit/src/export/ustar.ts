/** One deterministic ustar member (POSIX.1-1988): regular file, mode 0644, owner, group and time zero. */

export const BLOCK_BYTES = 512;
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);

/** @throws RangeError for a name over 100 bytes, which no file of a tiled log has */
export function ustarMember(name: string, content: Buffer): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`a name of over 100 bytes: ${name}`);
  const padded = Math.ceil(content.length / BLOCK_BYTES) * BLOCK_BYTES;
  const member = Buffer.alloc(BLOCK_BYTES + padded);
  member.write(name, 0, "latin1");
  member.write("0000644\0", 100, "latin1");
  member.write("0000000\0", 108, "latin1");
  member.write("0000000\0", 116, "latin1");
  member.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  member.write("00000000000\0", 136, "latin1");
  member.write("        ", 148, "latin1");
  member.write("0", 156, "latin1");
  member.write("ustar\0", 257, "latin1");
  member.write("00", 263, "latin1");
  let sum = 0;
  for (const byte of member.subarray(0, BLOCK_BYTES)) sum += byte;
  member.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  content.copy(member, BLOCK_BYTES);
  return member;
}
