/** Files that the auditor chose, read in pieces. */

/** A piece is some 20 ms of judging, and between two the page answers. */
const PIECE_BYTES = 262_144;
const MAX_SMALL_BYTES = 67_108_864;

export class UnusableInput extends Error {
  /** The field of the form that it is about. */
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}

/** @throws what the signal was aborted with */
export async function* piecesOf(file: File, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    signal.throwIfAborted();
    yield await bytesOf(file.slice(at, at + PIECE_BYTES), "export");
  }
}

/** @throws {@link UnusableInput} */
export async function readSmall(
  file: File,
  field: string,
  maxBytes: number = MAX_SMALL_BYTES,
): Promise<Uint8Array> {
  if (file.size > maxBytes)
    throw new UnusableInput(field, `${file.name} is longer than ${maxBytes} bytes`);
  return bytesOf(file, field);
}

async function bytesOf(blob: Blob, field: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    throw new UnusableInput(field, "the file can't be read, or was changed since it was chosen", {
      cause,
    });
  }
}
