/** When a follower writes a whole state again, so that a restore has not too much to go through. Pure. */

export type SinceWhole = {
  /** Files of changes. */
  files: number;
  bytes: number;
  /** Of the database. */
  wholeBytes: number;
};

const FEW_FILES = 2_000;
/** Of a large database more changes are worth it. */
const BYTES_A_FILE = 65_536;
const FEW_BYTES = 64 * 1024 ** 2;

export function isWholeDue({ files, bytes, wholeBytes }: SinceWhole): boolean {
  return (
    files >= Math.max(FEW_FILES, wholeBytes / BYTES_A_FILE) ||
    bytes >= Math.max(FEW_BYTES, 2 * wholeBytes)
  );
}
