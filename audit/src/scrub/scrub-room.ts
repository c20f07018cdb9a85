/** How much room a database needs to be made anew. A copy that fails has filled the disk for everybody else first, so it is looked for before. */

/** Beside a page in the log of changes: its head there, and its place in the log's index. */
const LOG_BYTES_OF_PAGE = 32;
/** For what is rounded up, and for others that write there meanwhile. */
const SPARE_BYTES = 1_048_576;

/** `freePages` of its `pages` hold nothing; the files may be smaller or larger than what is committed. */
export type DatabaseSize = {
  pages: number;
  freePages: number;
  pageBytes: number;
  fileBytes: number;
  logBytes: number;
};

/**
 * Bytes that must be free. First what stands in the log of changes is written back, and the log emptied; then what lives is there twice more: in a
 * temporary file, and in the log on its way back.
 */
export function roomToScrub({
  pages,
  freePages,
  pageBytes,
  fileBytes,
  logBytes,
}: DatabaseSize): number {
  const grows = Math.max(0, pages * pageBytes - fileBytes);
  const copied = (pages - freePages) * (2 * pageBytes + LOG_BYTES_OF_PAGE);
  return grows + Math.max(0, copied - logBytes) + SPARE_BYTES;
}

/** Nothing was begun; it is to be tried again once there is room. */
export class NoRoomToScrub extends Error {
  override readonly name = "NoRoomToScrub";
  readonly code = "no_room";

  constructor(neededBytes: number, freeBytes: number) {
    super(`no room: needs ${neededBytes} bytes, ${freeBytes} are free`);
  }
}

/** What stays the same of a fault that is seen again and again: the room that is left changes all the time. */
export function reasonOf(error: Error): string {
  return error instanceof NoRoomToScrub ? error.code : error.message;
}
