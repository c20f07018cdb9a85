import { Socket } from "node:net";

type Written = (error?: Error | null) => void;

/**
 * A socket that goes on reading after its peer has stopped to take what is written. A server that refuses an upload answers and hangs up while
 * the body still comes: Node's own socket would end at the first broken write, with the answer unread in its buffer. Bytes that nobody takes any
 * more are dropped; that the peer is gone is told by the end of what can be read, after its last word.
 */
export class ListeningSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Written): void {
    super._write(chunk, encoding, (error) => done(unlessHungUp(error)));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Written): void {
    super._writev?.(chunks, (error) => done(unlessHungUp(error)));
  }
}

function unlessHungUp(error: NodeJS.ErrnoException | null | undefined): Error | null {
  return error === null ||
    error === undefined ||
    error.code === "EPIPE" ||
    error.code === "ECONNRESET"
    ? null
    : error;
}
